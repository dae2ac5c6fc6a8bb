import { refusalForPeople } from "#api/http/refusal-page.ts";
import { addressOf } from "#content/contract/base/request.ts";
import { Elysia } from "elysia";
import { answerOf } from "./http/encoded-body.ts";
import { withNotes, refuseOrNoteUnknown } from "./http/unknown-names.ts";
import { readJson, formBody, isSentByForm, tableBody, takesForm, takesTable } from "./http/body.ts";
import { rememberAddress, countAsClient, crossSiteWrite } from "./http/client.ts";
import { answerError, problem, rateLimited } from "./http/problem.ts";
import { correctionRoutes } from "./correction/routes.ts";
import { isListFile } from "./directory/list-file.ts";
import {
  directoryRoutes,
  movedRoutes,
  movedTo,
  slugAddress,
  translatedRoutes,
} from "./directory/routes.ts";
import { organisationRoutes } from "./directory/organisations.ts";
import { deskRoutes } from "./operator/desk/routes.ts";
import { addHeaders, optionsAnswer } from "./http/headers.ts";
import type { Context } from "./context.ts";
import { helpFor, methodsOf, pathOf, routesByPath } from "./http/route.ts";
import { nameSequence, waitForSequence } from "./http/sequence.ts";
import { isStorageQuota, storageQuota } from "./http/rate-limit.ts";
import type { Allowance } from "#content/operation/limit-store.ts";
import { requestIdOf, traceOf } from "./log.ts";
import { openMetrics } from "./operator/metrics.ts";
import { openReadiness, probeRoutes } from "./operator/probes.ts";
import { operatorRoutes } from "./operator/actions.ts";
import { enrichmentRoutes, enrichRoutes } from "./enrichment/routes.ts";
import { donateRoutes } from "./giving/routes.ts";
import { receiptRoutes, walletRoutes } from "./giving/signed-routes.ts";
import { type AskFor, mcpRoutes } from "./mcp/routes.ts";
import { onboardRoutes } from "./onboarding/routes.ts";
import { reconciliationRoutes } from "./reconciliation/routes.ts";
import { recommendDraftRoutes, recommendRoutes } from "./recommendation/routes.ts";
import { compareRoutes, searchRoutes } from "./search/routes.ts";
import { type Address, addresses, type LimitName } from "#content/contract/addresses.ts";
import {
  correctionOperations,
  enrichmentOperations,
} from "#content/contract/operations/enrichment.ts";
import { onboardingOperations } from "#content/contract/operations/onboarding.ts";

/** Every route. A new one is a route file of its capability and one line here. */
const routesOf = (context: Context, askFor: AskFor, probes: Parameters<typeof probeRoutes>[1]) =>
  new Elysia()
    .onParse({ as: "global" }, ({ request, contentType, path }) => {
      // The desk reads its forms itself; returning a value here keeps Elysia from reading them.
      if (path.startsWith("/desk/")) return {};
      if (takesTable(path)) return tableBody(request);
      return takesForm(path) && isSentByForm(request)
        ? formBody(request)
        : readJson(request, contentType);
    })
    .onTransform({ as: "global" }, ({ request, route, body }) => {
      // The route that answers must be the one whose limit was counted.
      if (limitByRequest.get(request) !== limitOfRoute(request.method, route))
        throw new Error(`${request.method} ${route} does not count this request`);
      refuseOrNoteUnknown(request, route, body);
    })
    .onError({ as: "global" }, ({ error, code, path, request, route }) => {
      routeByRequest.set(request, route);
      return answerError(context.log, error, code, { help: helpAt(path, context), request });
    })
    .mapResponse({ as: "global" }, ({ responseValue, request, set, route }) => {
      routeByRequest.set(request, route);
      return answerOf(responseValue, request, set);
    })
    .use(probeRoutes(context, probes))
    .use(directoryRoutes(context))
    .use(translatedRoutes(context))
    .use(movedRoutes())
    .use(organisationRoutes(context))
    .use(searchRoutes(context))
    .use(compareRoutes(context))
    .use(reconciliationRoutes(context))
    .use(recommendRoutes(context))
    .use(recommendDraftRoutes(context))
    .use(enrichRoutes(context))
    .use(donateRoutes(context))
    .use(receiptRoutes(context))
    .use(walletRoutes(context))
    .use(onboardRoutes(context))
    .use(correctionRoutes(context))
    .use(enrichmentRoutes(context))
    .use(operatorRoutes(context))
    .use(deskRoutes(context))
    .use(mcpRoutes(context, askFor));

/** Makes the service: `createApp(context).handle(new Request("http://localhost/healthz"))`. */
export function createApp(context: Context) {
  const readiness = openReadiness(context);
  const metrics = openMetrics(context, readiness);
  const routes = routesOf(context, (call, client) => askFor(call, client), { readiness, metrics });
  /** Counts and logs an answer. Without a route it was a file, sent before the service was asked. */
  const observe = (request: Request, status: number, startedMs: number, route = "file"): void => {
    const { method } = request;
    const durationMs = performance.now() - startedMs;
    metrics.request(knownMethods.has(method) ? method : "other", route, status, durationMs);
    if (context.config.logLevel !== "debug") return;
    const facts = { method, route, status, duration_ms: Math.round(durationMs * 10) / 10 };
    context.log.debug({ request_id: requestIdOf(request), ...facts }, "request");
  };
  const routesAt = routesByPath(routes.routes);
  const limitAt = (method: string, path: string): LimitName => {
    const route = routesAt(path).find(
      (candidate) => candidate.method === method || candidate.method === "ALL",
    );
    return limitOfRoute(method, route?.path ?? "");
  };
  const methodsAt = (path: string): readonly string[] => {
    const methods = methodsOf(routesAt(path));
    return methods.length === 0 && context.bundleHolds?.(path) === true ? fileMethods : methods;
  };
  const refuseLimited = (allowance: Allowance, limit: LimitName): Response => {
    const isStorage = isStorageQuota(allowance);
    const counter = isStorage ? "stored" : limit;
    context.activity.count(`limited:${counter}`);
    metrics.limited(counter);
    return isStorage ? problem(storageQuota(allowance)) : problem(rateLimited(allowance));
  };
  /** The route's answer, or a redirect when the nonprofit was named in another way. */
  const routeAnswer = async (request: Request): Promise<Response> => {
    const response = await routes.handle(request);
    const { path, query } = addressOf(request);
    const there = response.status === 404 ? await slugAddress(context.store, path) : null;
    return there === null ? response : movedTo(`${there}${query && `?${query}`}`);
  };
  const limitAndAnswer = async (request: Request): Promise<[Response, Allowance | null]> => {
    const { method } = request;
    const { path } = addressOf(request);
    if (!isDecodable(path)) return [badPath(), null];
    if (method === "OPTIONS") return [optionsAt(methodsAt(path)), null];
    const limit = limitAt(method, path);
    const allowance = await context.limits.request(limit, request);
    if (allowance?.allowed === false) return [refuseLimited(allowance, limit), allowance];
    limitByRequest.set(request, limit);
    // The front door has already waited for published files; here only the service's own view is awaited.
    await waitForSequence({ watch: context.watch, config: context.config }, request);
    const response = crossSiteWrite(limit, request) ?? (await routeAnswer(request));
    if (method === "POST") {
      await nameSequence(context.watch, response, { changed: !namesItsOwn.has(limit) });
    }
    const missing = response.status === 404 && response.headers.has("x-no-such-path");
    if (!missing) return [response, allowance];
    // A GET was already looked up in the bundle: a file that arrived since then is found by the next request.
    const methods = method === "GET" ? methodsOf(routesAt(path)) : methodsAt(path);
    return [noSuchPath(method, methods, helpAt(path, context)), allowance];
  };
  const onTrouble = (err: unknown) => context.log.warn({ err }, "a refusal could not be drawn");
  const countedClients = new WeakSet<Request>();
  // The first read of a batch of tool calls was counted with the request itself. Writes have their own limits.
  const allowanceOf = (request: Request, client: Request, limit: LimitName) => {
    const isCounted = limit === "read" && !countedClients.has(client);
    if (isCounted) countedClients.add(client);
    return isCounted ? null : context.limits.request(limit, request);
  };
  const askFor: AskFor = async ({ method, path, body }, client) => {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        "user-agent": client.headers.get("user-agent") ?? "",
        authorization: client.headers.get("authorization") ?? "",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    countAsClient(request, client);
    const limit = limitAt(method, addressOf(request).path);
    const allowance = await allowanceOf(request, client, limit);
    if (allowance?.allowed === false) return withNotes(refuseLimited(allowance, limit), client);
    limitByRequest.set(request, limit);
    return withNotes(crossSiteWrite(limit, client) ?? (await routeAnswer(request)), client);
  };
  return {
    /** All methods and paths, written as routes name them ("/api/nonprofits/:slug"). */
    routes: routes.routes as readonly { method: string; path: string }[],
    observe,
    /** Answers a request. `address` is that of the socket; without one the client counts as unknown. Never throws. */
    handle: async (request: Request, address = "unknown"): Promise<Response> => {
      const startedMs = performance.now();
      const head = request.method === "HEAD";
      const readRequest = head ? new Request(request, { method: "GET" }) : request;
      rememberAddress(readRequest, address);
      if (context.config.trustedHops === 0 && readRequest.headers.has("x-forwarded-for")) {
        context.activity.count("access:untrusted_proxy_requests");
      }
      let response: Response;
      let allowance: Allowance | null = null;
      try {
        [response, allowance] = await limitAndAnswer(readRequest);
      } catch (error) {
        response = answerError(context.log, error, "UNKNOWN", { request: readRequest });
      }
      response = await withNotes(response, readRequest);
      response = await refusalForPeople({ draw: context.draw, onTrouble }, response, readRequest);
      addHeaders(response, readRequest.method, allowance);
      const trace = readRequest.headers.get("traceparent");
      if (trace !== null && traceOf(readRequest) !== null)
        response.headers.set("traceparent", trace);
      observe(readRequest, response.status, startedMs, routeByRequest.get(readRequest) || "none");
      return head ? withoutBody(response) : response;
    },
  };
}

/** The pattern of the route that answered: metrics labelled with the paths of clients would have no bound. */
const routeByRequest = new WeakMap<Request, string>();
const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "OPTIONS"]);

/** The methods that a file of the bundle, in front of the service, takes. */
const fileMethods = ["GET", "HEAD", "OPTIONS"] as const;

/** Gifts change no profile, and answers to enrichments already name their change. */
const namesItsOwn: ReadonlySet<LimitName> = new Set(["enrich", "donate", "pay"]);

/** The limit toward which a request was counted. */
const limitByRequest = new WeakMap<Request, LimitName>();

const limits: ReadonlyMap<string, LimitName> = new Map(
  Object.values<Address>(addresses).map((address) => [pathOf(address), address.limit ?? "read"]),
);

/** The limit of the address of a route. A path without a route counts as a read. */
function limitOfRoute(method: string, path: string): LimitName {
  const limit = limits.get(path) ?? "read";
  // Reading what others submitted (GET) writes nothing, so it counts as a read.
  return method === "GET" && limit === "correct" ? "read" : limit;
}

const routesWithHelp = [
  correctionOperations.correctNonprofit,
  enrichmentOperations.submitEnrichment,
  onboardingOperations.claimOrRegisterNonprofit,
];

/** An example of what to send, for a client that sent one of these routes an unusable body or left out the slug. */
function helpAt(path: string, { config }: Pick<Context, "config">): Record<string, unknown> {
  // Clients read this member before they look at the status.
  if (path === enrichmentOperations.findThinProfiles.path) return { nonprofits: [] };
  const operation = routesWithHelp.find(({ path: template }) => {
    const [start = "", slug] = template.split("{");
    return slug === undefined ? path === start : `${path}/`.startsWith(start);
  });
  const slug = path.split("/")[3];
  return operation === undefined ? {} : helpFor(operation, config.baseUrl, slug);
}

/** Whether all escapes of a path are UTF-8. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

const badPath = (): Response =>
  problem({
    status: 400,
    code: "bad_path",
    detail: "The path contains escapes that are not UTF-8. Percent-encode the path as UTF-8.",
  });

const optionsAt = (allow: readonly string[]): Response =>
  allow.length === 0 ? noSuchPath("OPTIONS", allow) : optionsAnswer(allow);

function noSuchPath(method: string, allow: readonly string[], extensions = {}): Response {
  if (allow.length === 0) {
    const detail = "There is nothing at this path.";
    return problem({ status: 404, code: "no_such_path", detail, extensions });
  }
  const detail = `${method} is not known at this path; it knows ${allow.join(", ")}.`;
  const headers = { allow: allow.join(", ") };
  return problem({ status: 405, code: "method_not_allowed", detail, headers, extensions });
}

/** The answer to HEAD: the headers of GET without the body. Left alone, Bun would claim a length of 0. */
async function withoutBody(response: Response): Promise<Response> {
  const { status, headers, body } = response;
  if (isListFile(response)) {
    await body?.cancel();
    headers.set("transfer-encoding", "chunked");
  } else if (body !== null) {
    headers.set("content-length", String((await response.arrayBuffer()).byteLength));
  }
  return new Response(null, { status, headers });
}
