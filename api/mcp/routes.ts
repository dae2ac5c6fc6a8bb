import { addressOf } from "#content/contract/base/request-address.ts";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { Elysia } from "elysia";
import { addresses } from "#content/contract/addresses.ts";
import { type Call, mcpServer } from "./server.ts";
import type { Context } from "#api/context.ts";
import { problem } from "#api/http/problem.ts";

/** Asks the service itself on behalf of a client. */
export type AskFor = (call: Call, client: Request) => Promise<Response>;

const messagesMax = 10;

/**
 * POST /mcp: the Model Context Protocol over streamable HTTP, without sessions. A GET would hold a stream open on
 * which nothing is ever said, so it is 405 like any other method.
 */
export const mcpRoutes = (
  { activity, config }: Pick<Context, "activity" | "config">,
  askFor: AskFor,
) =>
  new Elysia().post(addresses.mcp.path, async ({ request, body }) => {
    if (isRebound(request, config.baseUrl)) return wrongHost();
    // Each message may be a call of a tool, and only the request as a whole was counted.
    if (Array.isArray(body) && body.length > messagesMax) return tooManyMessages();
    activity.count("hit:mcp");
    const server = mcpServer((call) => askFor(call, request));
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(liberal(request), { parsedBody: body });
    } finally {
      await server.close();
    }
  });

/** Many clients name only one of the two types that the protocol wants named; the answer is JSON in any case. */
function liberal(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  const { host, path } = addressOf(request);
  return new Request(`http://${host}${path}`, { method: "POST", headers });
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/i;

/**
 * Whether a page of another site reached a directory on its visitor's own machine, by a name that it pointed there.
 * A public directory is open to all. Source: MCP, "Transports", security warning.
 */
function isRebound(request: Request, baseUrl: string): boolean {
  if (!loopback.test(new URL(baseUrl).hostname)) return false;
  const host = request.headers.get("host") ?? addressOf(request).host;
  const origin = request.headers.get("origin");
  return [`http://${host}`, ...(origin === null ? [] : [origin])].some(
    (address) => !URL.canParse(address) || !loopback.test(new URL(address).hostname),
  );
}

const wrongHost = (): Response =>
  problem({
    status: 403,
    code: "wrong_host",
    detail: "This directory runs on its user's own machine and answers only requests from there.",
  });

const tooManyMessages = (): Response =>
  problem({
    status: 400,
    code: "too_many_messages",
    detail: `A request may hold at most ${messagesMax} messages.`,
  });
