import { maxHeaderSize } from "node:http";
import type { Config } from "#api/config.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import { addHeaders } from "./headers.ts";
import { withNotes } from "./unknown-names.ts";
import { internal, problem } from "./problem.ts";

export type Listener = ReturnType<typeof listen>;

export type Handler = {
  handle(request: Request, address?: string): Promise<Response>;
  /** Called for each answer that `before` gave, with the start of the request in the time of `performance.now`. */
  observe?(request: Request, status: number, startedMs: number): void;
};

export type ListenOptions = {
  /** May answer a request before the service, for example with a file; null passes it on to the service. */
  before?: (request: Request) => Response | null | Promise<Response | null>;
  /** Lets several processes of one machine listen on the same port. */
  reusePort?: boolean;
  /** Answers when something throws. The service never throws, but `before` may. */
  onError?: (error: unknown) => Response;
};

/** A connection without a byte for so long is closed, so that slow clients are cut off. */
const idleTimeoutSeconds = 10;
/** Unlimited: Bun's own refusal would have no body. api/http/body.ts has the limit; unread bytes take no memory. */
const bodyBytesMax = Number.MAX_SAFE_INTEGER;
const headBytesMax = 262_144;
const stopMsMax = 4_000;
const quietLooks = 4;

/** Puts the service on a socket. Throws CannotStart, which names the address. */
export function listen(
  app: Handler,
  { host, port, baseUrl }: Pick<Config, "host" | "port" | "baseUrl">,
  { before, reusePort = false, onError = unexpectedAnswer }: ListenOptions = {},
) {
  allowLongAddresses();
  const { origin: base } = new URL(baseUrl);
  const origin = base.length < pathStartMin ? "http://localhost" : base;
  let isStopping = false;
  const server = serve({
    hostname: host,
    port,
    reusePort,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: bodyBytesMax,
    // In development mode Bun would answer an error with a page that shows source, paths and a stack.
    development: false,
    error: onError,
    fetch: (request, self) => {
      const startedMs = performance.now();
      const canonical = canonicalRequest(request, origin);
      if (canonical instanceof Response) {
        addHeaders(canonical, request.method, null);
        app.observe?.(request, canonical.status, startedMs);
        return Promise.resolve(withNotes(canonical, request)).then((refusal) =>
          isStopping ? closing(refusal) : refusal,
        );
      }
      const ask = () => app.handle(canonical, self.requestIP(request)?.address);
      const early = before?.(canonical) ?? null;
      if (early === null || early instanceof Promise) {
        const answer = early === null ? ask() : early.then((file) => file ?? ask());
        return answer.then((response) => (isStopping ? closing(response) : response));
      }
      app.observe?.(canonical, early.status, startedMs);
      return isStopping ? closing(early) : early;
    },
  });
  const hostname = host.includes(":") ? `[${host}]` : host;
  return {
    /** The URL without a trailing slash, with the port that was chosen if the configured one is 0. */
    url: `http://${hostname}:${server.port}`,
    port: server.port ?? port,
    /**
     * For `drainMs` answers everything, and has clients close their connections. Then takes no new connection, lets
     * requests finish for at most `graceMs` (by default 4 s less `drainMs`) and cuts them off.
     */
    stop: async ({
      drainMs = 0,
      graceMs = stopMsMax - drainMs,
    }: { drainMs?: number; graceMs?: number } = {}): Promise<void> => {
      isStopping = true;
      if (drainMs > 0) await Bun.sleep(drainMs);
      const deadlineMs = performance.now() + graceMs;
      // `stop()` alone waits neither for running requests nor for the first one of a new connection.
      void server.stop();
      for (let quiet = 0; quiet < quietLooks && performance.now() < deadlineMs; quiet++) {
        if (server.pendingRequests > 0) quiet = 0;
        await Bun.sleep(5);
      }
      await server.stop(true);
    },
  };
}

const unexpectedAnswer = (): Response =>
  problem({ ...internal, extensions: { request_id: crypto.randomUUID() } });

function closing(response: Response): Response {
  response.headers.set("connection", "close");
  return response;
}

/**
 * Reads the address of a request once, for all code behind it: an absolute URL whose path begins at the first "/" after
 * "://" and ends before the first "?". For a Host that is no name, Bun gives the bare target, in which each reader would
 * find another path. Without a Host, which HTTP/1.0 allows, the configured base is used. Returns a refusal for an address
 * that cannot be read this way.
 */
function canonicalRequest(request: Request, origin: string): Request | Response {
  const { url } = request;
  const host = request.headers.get("host");
  // Bun joins repeated headers with a comma, and a proxy may have used the other Host. Source: RFC 9112, 3.2.
  if (host !== null && !(hostForm.test(host) && URL.canParse(`http://${host}`)))
    return problem(badHost);
  if (url.includes("#")) return problem(fragment);
  const start = host === null ? 0 : url.indexOf("/", "http://".length);
  // Elysia looks for the path from the 11th character on, so it would miss the path after a shorter host.
  return start >= pathStartMin ? request : new Request(origin + url.slice(start), request);
}

const pathStartMin = 11;
/** RFC 3986, 3.2.2, without escapes, but with underscores, which occur in names of containers. */
const hostForm = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

const badHost = {
  status: 400,
  code: "bad_host",
  detail:
    "The request has more than one Host, or one that is no name. Send one Host header: a host name or an address, with the port where there is one.",
} as const;

const fragment = {
  status: 400,
  code: "bad_path",
  detail:
    "The path contains a #, which is never sent. Leave out what follows it, or encode it as %23.",
} as const;

function serve(options: Bun.Serve.Options<undefined>): Bun.Server<undefined> {
  try {
    return Bun.serve(options);
  } catch (cause) {
    const where = "port" in options ? `${options.hostname}:${options.port}` : "the address";
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const remedy = listenRemedies[code] ?? "Choose others with ALMONER_HOST and ALMONER_PORT.";
    throw new CannotStart(`Cannot listen on ${where} (${code}).`, remedy, { cause });
  }
}

const listenRemedies: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "Something else listens there: stop it, or choose another port with ALMONER_PORT (0 takes a free one).",
  EACCES:
    "Ports below 1024 are for root: choose another one with ALMONER_PORT and put a proxy in front, or give the unit CAP_NET_BIND_SERVICE.",
  EADDRNOTAVAIL: "This machine does not have that address: correct ALMONER_HOST.",
};

/**
 * Bun refuses request heads above 16 kB with a bare 431, but a query of 100 kB must get a normal answer. The limit is
 * global to the process, and node:http has the only way to set it at run time.
 */
function allowLongAddresses(): void {
  if (maxHeaderSize >= headBytesMax) return;
  const http = process.getBuiltinModule("node:http") as { maxHeaderSize: number };
  http.maxHeaderSize = headBytesMax;
}
