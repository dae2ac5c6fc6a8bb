import { addressOf } from "#content/contract/base/request.ts";
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  type Server,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { Elysia } from "elysia";
import { addresses } from "#content/contract/addresses.ts";
import { serviceOperations } from "#content/contract/operations/directory.ts";
import type { Call } from "./call.ts";
import { mcpServer } from "./server.ts";
import type { Door } from "#content/openapi/mcp-tools.ts";
import type { Context } from "#api/context.ts";
import { RefusalError } from "#api/http/problem.ts";
import { schemaOf } from "#api/http/route.ts";

/** Sends a request to the service itself on behalf of a client. */
export type AskFor = (call: Call, client: Request) => Promise<Response>;

const messagesMax = 10;

/**
 * POST /mcp, and /mcp/read without the tools that write or pay: the Model Context Protocol over streamable HTTP, without
 * sessions, in the revision that the request names and in older ones that begin with a handshake. A GET, which would open
 * a stream that stays silent, gets 405 like other methods.
 */
export const mcpRoutes = (
  { activity, config }: Pick<Context, "activity" | "config">,
  askFor: AskFor,
) => {
  const served = (request: Request, body: unknown, door: Door) => {
    if (isRebound(request, config.baseUrl)) throw new RefusalError(wrongHost);
    // Each message may be a tool call, but only the request as a whole was counted.
    if (Array.isArray(body) && body.length > messagesMax) throw new RefusalError(tooManyMessages);
    activity.count("hit:mcp");
    const ask = (call: Call) => askFor(call, request);
    return answered(liberal(request), body, () => mcpServer({ ask, origin: config.baseUrl, door }));
  };
  return new Elysia()
    .post(
      addresses.mcp.path,
      ({ request, body, query }) => served(request, body, query.tools ?? "default"),
      schemaOf(serviceOperations.callTool),
    )
    .post(addresses.mcpRead.path, ({ request, body }) => served(request, body, "read"));
};

/** No subscriptions, because lists change only with the version. */
const modern = { legacy: "reject", maxSubscriptions: 0 } as const;

async function answered(request: Request, parsedBody: unknown, serve: () => Server) {
  if (!(await isLegacyRequest(request, parsedBody)))
    return createMcpHandler(serve, modern).fetch(request, { parsedBody });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = serve();
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}

/** Many clients accept only one of the two types that the protocol requires; the answer is JSON anyway. */
function liberal(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  const { host, path } = addressOf(request);
  return new Request(`http://${host}${path}`, { method: "POST", headers });
}

const hostnames = localhostAllowedHostnames();

/**
 * Whether a page of another site reached a directory on its visitor's own machine through a host name that it pointed
 * there. Public directories are open to all. Source: MCP, "Transports", security warning.
 */
function isRebound(request: Request, baseUrl: string): boolean {
  if (!hostnames.includes(new URL(baseUrl).hostname)) return false;
  const host = request.headers.get("host") ?? addressOf(request).host;
  const origin = request.headers.get("origin");
  return !validateHostHeader(host, hostnames).ok || !validateOriginHeader(origin, hostnames).ok;
}

const wrongHost = {
  status: 403,
  code: "wrong_host",
  detail: "This directory runs on its user's own machine and answers only requests from there.",
};

const tooManyMessages = {
  status: 400,
  code: "too_many_messages",
  detail: `A request may hold at most ${messagesMax} messages.`,
};
