import { existsSync, statSync } from "node:fs";
import { join, normalize } from "node:path";
import { serveHere } from "#test/support/serve-here.ts";

/** What a test does to an answer: other bytes, a status, or null to leave it as it is. */
export type Meddle = (path: string) => Promise<Response | null> | Response | null;

export type StaticServer = { url: string; requests: string[]; meddle: Meddle; close(): void };

/** A plain web server that sends the files of a folder by their paths, and nothing else. */
export function serveFolder(folder: string): StaticServer {
  const requests: string[] = [];
  const served: StaticServer = { url: "", requests, meddle: () => null, close: () => {} };
  const server = serveHere(async (request) => {
    const path = decodeURIComponent(new URL(request.url).pathname).slice(1);
    requests.push(path);
    const meddled = await served.meddle(path);
    if (meddled !== null) return meddled;
    const file = join(folder, normalize(path));
    if (!file.startsWith(folder) || !existsSync(file) || statSync(file).isDirectory()) {
      return new Response("not found", { status: 404 });
    }
    return new Response(Bun.file(file));
  });
  served.url = `http://127.0.0.1:${server.port}`;
  served.close = () => void server.stop(true);
  return served;
}
