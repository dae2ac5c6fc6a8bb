import { writeFileSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import { type Figure, figure, quantile } from "./harness.ts";

/** How long each of some requests took, in ms, and how many were answered in a second. */
export type Load = { timesMs: number[]; perSecond: number };

/** GET without a method. Every request names a client of its own, as a proxy would. */
export type Request = {
  path: string;
  method?: "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
};

let clients = 0;

/** The header by which a proxy names a client, each time another one. */
export function newClient(): Record<string, string> {
  clients += 1;
  return {
    "x-forwarded-for": `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`,
  };
}

/** POST of a JSON body. */
export const post = (path: string, body: object): Request => ({
  path,
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/**
 * Sends each request once, this many at a time, and reads every answer to its end. Throws on any status but those
 * expected, 200 unless said, and on a body that does not hold the text `holds`.
 */
export async function send(
  origin: string,
  requests: readonly Request[],
  { atOnce, expected = [200], holds = "" }: { atOnce: number; expected?: number[]; holds?: string },
): Promise<Load> {
  const connections = Math.min(atOnce, requests.length);
  const all = requests.map((request) => ({
    ...request,
    headers: { "accept-encoding": "gzip, deflate, br", ...request.headers, ...newClient() },
  }));
  const timesMs: number[] = [];
  const refused = new Set<number>();
  let connected = 0;
  const startMs = performance.now();
  let endMs = startMs;
  const running = autocannon({
    url: origin,
    connections,
    amount: requests.length,
    setupClient: (client) => {
      const own = connected++;
      client.setRequests(all.filter((_, nth) => nth % connections === own));
    },
    ...(holds === "" ? {} : { verifyBody: (body: string) => body.includes(holds) }),
  });
  running.on("response", (_client, status, _bytes, tookMs) => {
    if (!expected.includes(status)) refused.add(status);
    timesMs.push(tookMs);
    endMs = performance.now();
  });
  const { errors, mismatches } = await running;
  if (errors + mismatches + refused.size > 0) {
    const statuses = [...refused].join(", ");
    throw new Error(
      `${errors} requests failed, ${mismatches} had another answer; statuses not expected: ${statuses}`,
    );
  }
  return { timesMs, perSecond: (timesMs.length / (endMs - startMs)) * 1_000 };
}

/** The rate of a load, and how long most and nearly all of its requests took, with what is asked of each. */
export const loadFigures = (
  what: string,
  { timesMs, perSecond }: Load,
  asked: { perSecond?: number; p50Ms?: number; p99Ms?: number } = {},
): Figure[] => [
  figure(what, perSecond, "/s", { least: asked.perSecond }),
  figure(`${what}: p50`, quantile(timesMs, 0.5), "ms", { most: asked.p50Ms }),
  figure(`${what}: p99`, quantile(timesMs, 0.99), "ms", { most: asked.p99Ms }),
];

/**
 * Requests in a second over 32 connections, by wrk, which asks for the paths in turn; every answer must be of the 200s or
 * 300s. `folder` takes a script.
 */
export async function wrk(
  origin: string,
  { paths, seconds, folder }: { paths: readonly string[]; seconds: number; folder: string },
): Promise<number> {
  if (Bun.which("wrk") === null) throw new Error("wrk is missing (Debian: apt-get install wrk)");
  const script = join(folder, "paths.lua");
  const list = paths.map((path) => JSON.stringify(path)).join(",");
  writeFileSync(
    script,
    `local paths = {${list}}
     local at = 0
     request = function() at = at % #paths + 1; return wrk.format("GET", paths[at]) end`,
  );
  const child = Bun.spawn(["wrk", "-t1", "-c32", `-d${seconds}s`, "-s", script, origin], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const out = await new Response(child.stdout).text();
  if (out.includes("Non-2xx")) throw new Error(`a request was refused: ${out}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(out)?.[1] ?? 0);
}
