import { serveHere } from "#test/support/serve-here.ts";
/** What a service behind an edge was asked. */
export type EchoedRequest = {
  method: string;
  target: string;
  forwardedFor: string | null;
  host: string | null;
  body: string;
};

/** A service that says what it was asked, with headers of its own; not found for slugs named "unknown". */
export function anEchoService() {
  const asked: EchoedRequest[] = [];
  const server = serveHere(async (request) => {
    const url = new URL(request.url);
    asked.push({
      method: request.method,
      target: url.pathname + url.search,
      forwardedFor: request.headers.get("x-forwarded-for"),
      host: request.headers.get("host"),
      body: await request.text(),
    });
    const status = url.pathname.endsWith("/unknown") ? 404 : 200;
    const headers = { "cache-control": "no-store", "x-served-by": "service" };
    return Response.json({ asked: asked.at(-1) }, { status, headers });
  });
  return { asked, port: server.port ?? 0, stop: () => server.stop(true) };
}
