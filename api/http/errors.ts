import type { Context } from "#api/context.ts";
import { ValidationError } from "elysia";
import { problem, type Refusal, Refused, storeRefusal } from "./problem.ts";
import { parameterRefusal } from "./query.ts";

/**
 * The answer to whatever was thrown. What nobody expected is logged once with its cause, and told to nobody. `help` is
 * added to a refused request, for example a body that could be sent.
 */
export function answerError(
  log: Context["log"],
  error: unknown,
  code: unknown,
  help: Record<string, unknown> = {},
): Response {
  const refused = error instanceof Refused ? error : error instanceof Error ? error.cause : null;
  if (refused instanceof Refused)
    return problem({ ...refused.refusal, extra: { ...refused.refusal.extra, ...help } });
  if (code === "NOT_FOUND") return unknownPath();
  // Elysia answers 422 to a bad body; the contract says 400.
  if (error instanceof ValidationError) {
    return problem(error.type === "query" ? invalidParameter(error) : invalidBody(error));
  }
  if (code === "PARSE") {
    return problem({ status: 400, code: "invalid_json", detail: "The body is no valid JSON." });
  }
  const refusal = storeRefusal(error);
  if (refusal !== null) {
    log.warn({ code: refusal.code }, "the store refused");
    return problem(refusal);
  }
  log.error({ err: error }, "unexpected error");
  return problem({ status: 500, code: "internal", detail: "Something went wrong on our side." });
}

/** Told apart from a route's own 404 by a header, so that api/app.ts can say which methods the path knows. */
const unknownPath = (): Response =>
  new Response(null, { status: 404, headers: { "x-no-such-path": "1" } });

function invalidParameter({ all, valueError }: ValidationError): Refusal {
  const { values } = (valueError ?? {}) as { values?: readonly string[] };
  const [first] = all;
  const parameter = first !== undefined && "path" in first ? first.path : "";
  const message = first?.summary ?? "The query is not valid.";
  const allowed = values === undefined ? {} : { allowed: values };
  return parameterRefusal({ kind: "invalid_parameter", parameter, message, ...allowed });
}

const errorsMax = 20;

function invalidBody(error: unknown): Refusal {
  const all = (error as { all?: { path?: string; message?: string }[] }).all ?? [];
  const errors = all.slice(0, errorsMax).map(({ path, message }) => ({
    path: path === undefined || path === "root" ? "" : path.slice(0, 100),
    message: (message ?? "not valid").slice(0, 300),
  }));
  const [first] = errors;
  const where = first === undefined || first.path === "" ? "the body" : first.path;
  const detail =
    first === undefined ? "The request is not valid." : `Not valid: ${where}: ${first.message}`;
  return { status: 400, code: "invalid_request", detail, errors };
}
