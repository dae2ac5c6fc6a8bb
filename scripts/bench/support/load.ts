import { join } from "node:path";

/** What the client in another process is to do. `paths` begin with a slash. */
export type LoadOrder = {
  port: number;
  paths: readonly string[];
  concurrency: number;
  headers: Readonly<Record<string, string>>;
  /** What every answer has to be. */
  status: number;
  /** Whether each request names a client of its own, as a proxy would. */
  manyClients: boolean;
};

/** How long each of some requests took, in ms, and how many were answered in a second. */
export type Load = { timesMs: number[]; perSecond: number };

const client = join(import.meta.dirname, "load-client.ts");
/** What HTTP clients of programs accept without being told to. */
const usualHeaders = { "accept-encoding": "gzip, deflate, br" };

/**
 * Sends all requests from a process of its own, so many at a time, and reads every answer to its end. Throws on any
 * status but the one expected, 200 unless said. `urls` are those of one service on this machine.
 */
export async function sendAll(
  urls: readonly string[],
  {
    concurrency,
    headers = usualHeaders,
    status = 200,
    manyClients = false,
  }: Pick<LoadOrder, "concurrency"> & Partial<Omit<LoadOrder, "concurrency">>,
): Promise<Load> {
  const [first = ""] = urls;
  const { origin, port } = new URL(first);
  const paths = urls.map((url) => url.slice(origin.length));
  const order: LoadOrder = { port: Number(port), paths, concurrency, headers, status, manyClients };
  const child = Bun.spawn([process.execPath, client], {
    stdin: new Blob([JSON.stringify(order)]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [told, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`the client failed: ${complaint.slice(0, 500)}`);
  return JSON.parse(told) as Load;
}
