import { Elysia } from "elysia";
import { readJson } from "./body.ts";
import { rememberAddress } from "./client.ts";
import type { Parts } from "./parts.ts";
import { problem, Refused, storeRefusal } from "./problem.ts";
import { healthRoutes } from "./routes/health.ts";

/** The whole service without a socket. */
export type App = {
  /** Answers a request. `address` is the socket's; without one the client counts as unknown. Never throws. */
  handle(request: Request, address?: string): Promise<Response>;
};

/** Makes the service: `createApp(parts).handle(new Request("http://localhost/healthz"))`. */
export function createApp(parts: Parts): App {
  const routes = routesOf(parts);
  return {
    handle: async (request, address = "unknown") => {
      rememberAddress(request, address);
      return routes.handle(request);
    },
  };
}

/** Every route. A new one is a file in api/routes and one line here. */
const routesOf = (parts: Parts) =>
  new Elysia()
    .onParse({ as: "global" }, ({ request, contentType }) => readJson(request, contentType))
    .onError({ as: "global" }, ({ error, code, request }) =>
      answerError(parts, error, code, request),
    )
    .use(healthRoutes());

function answerError(parts: Parts, error: unknown, code: unknown, request: Request): Response {
  if (error instanceof Refused) return problem(error.refusal);
  if (error instanceof Error && error.cause instanceof Refused) return problem(error.cause.refusal);
  if (code === "NOT_FOUND") {
    return problem({ status: 404, code: "no_such_path", detail: "There is nothing at this path." });
  }
  // Elysia answers 422 to a bad body; the contract says 400.
  if (code === "VALIDATION") return problem(invalidBody(error));
  if (code === "PARSE") {
    return problem({ status: 400, code: "invalid_json", detail: "The body is no valid JSON." });
  }
  const refusal = storeRefusal(error);
  if (refusal !== null) return problem(refusal);
  parts.log.error({ err: error, method: request.method }, "unexpected error");
  return problem({ status: 500, code: "internal", detail: "Something went wrong on our side." });
}

const errorsMax = 20;

function invalidBody(error: unknown) {
  const all = (error as { all?: { path?: string; message?: string }[] }).all ?? [];
  const errors = all.slice(0, errorsMax).map(({ path, message }) => ({
    path: path === "root" ? "" : (path ?? "").slice(0, 100),
    message: (message ?? "not valid").slice(0, 300),
  }));
  const [first] = errors;
  const detail =
    first === undefined
      ? "The request is not valid."
      : `The request is not valid: ${first.path === "" ? "body" : first.path}: ${first.message}`;
  return { status: 400, code: "invalid_request", detail, errors };
}
