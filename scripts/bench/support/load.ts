import { writeFileSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import type { Queryable } from "#content/store/open.ts";

/** How long each of some requests took, in ms, and how many were answered in a second. */
export type Load = { timesMs: number[]; perSecond: number };

type LoadOptions = {
  concurrency: number;
  headers?: Readonly<Record<string, string>>;
  /** What every answer has to be. */
  status?: number;
  /** Whether each request names a client of its own, as a proxy would. */
  manyClients?: boolean;
};

/** What HTTP clients of programs accept without being told to. */
const usualHeaders = { "accept-encoding": "gzip, deflate, br" };

/**
 * Sends each request once, this many at a time, and reads every answer to its end. Throws on any status but the one
 * expected, 200 unless said. `urls` are those of one service.
 */
export async function sendAll(
  urls: readonly string[],
  { concurrency, headers = usualHeaders, status = 200, manyClients = false }: LoadOptions,
): Promise<Load> {
  const { origin } = new URL(urls[0] ?? "");
  const connections = Math.min(concurrency, urls.length);
  const requests = urls.map((url, nth) => ({
    method: "GET" as const,
    path: url.slice(origin.length),
    headers: manyClients ? { ...headers, "x-forwarded-for": clientOf(nth) } : { ...headers },
  }));
  const timesMs: number[] = [];
  const refused = new Set<number>();
  let connected = 0;
  const startMs = performance.now();
  let endMs = startMs;
  const running = autocannon({
    url: origin,
    connections,
    amount: urls.length,
    setupClient: (client) => {
      const own = connected++;
      client.setRequests(requests.filter((_, nth) => nth % connections === own));
    },
  });
  running.on("response", (_client, answered, _bytes, tookMs) => {
    if (answered !== status) refused.add(answered);
    timesMs.push(tookMs);
    endMs = performance.now();
  });
  const { errors } = await running;
  if (errors > 0 || refused.size > 0) {
    throw new Error(`${errors} requests failed; statuses not expected: ${[...refused].join(", ")}`);
  }
  return { timesMs, perSecond: (timesMs.length / (endMs - startMs)) * 1_000 };
}

const clientOf = (nth: number): string =>
  `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`;

/** Throws when one of these commands is not installed. */
export function needTools(...tools: readonly string[]): void {
  for (const tool of tools) {
    if (Bun.which(tool) === null)
      throw new Error(`${tool} is missing (Debian: apt-get install ${tool})`);
  }
}

/** A script by which wrk asks for these paths in turn; answers the file's path. */
export function writePaths(folder: string, paths: readonly string[]): string {
  const script = join(folder, "paths.lua");
  const quoted = paths.map((path) => JSON.stringify(path)).join(",");
  writeFileSync(
    script,
    `local paths = {${quoted}}\nlocal at = 0\nrequest = function() at = at % #paths + 1; return wrk.format("GET", paths[at]) end\n`,
  );
  return script;
}

/** Requests in a second over 32 connections, by wrk; every answer must be of the 200s or 300s. */
export async function wrk(
  origin: string,
  { script, seconds }: { script: string; seconds: number },
): Promise<number> {
  const child = Bun.spawn(["wrk", "-t1", "-c32", `-d${seconds}s`, "-s", script, origin], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told = await new Response(child.stdout).text();
  if (told.includes("Non-2xx")) throw new Error(`a request was refused: ${told}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(told)?.[1] ?? 0);
}

/** A small generator of numbers, so that a bench asks the same each time. Source: Park and Miller. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * A mixed list of queries as people and agents send them, made of the directory's own names and missions, all
 * different: beginnings of names, runs of words of a mission, single words, half-typed words; some with filters.
 */
export async function mixedQueries(
  store: Queryable,
  { count, seed }: { count: number; seed: number },
): Promise<string[]> {
  const random = numbers(seed);
  const { rows } = await store.raw.execute({
    sql: `SELECT name, coalesce(mission, description, name) AS text, country_code
          FROM nonprofits
          WHERE id % ? = 0 AND status <> 'withdrawn'
          LIMIT 20000`,
    args: [Math.max(1, Math.floor((await sizeOf(store)) / 10_000))],
  });
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const queries = new Set<string>();
  for (let tried = 0; queries.size < count && tried < count * 20; tried++) {
    const { name, text, country_code } = pick(rows);
    const words = String(text).split(/\s+/).slice(0, 60);
    const params = new URLSearchParams({ q: wordsOf(String(name).split(/\s+/), words, random) });
    if (random() < 0.15) params.set("cause", pick(["education", "health", "environment"]));
    if (random() < 0.15) params.set("country", String(country_code ?? "US"));
    queries.add(params.toString());
  }
  return [...queries];
}

function wordsOf(name: string[], text: string[], random: () => number): string {
  const kind = random();
  if (kind < 0.4) return name.slice(0, 2 + Math.floor(random() * 2)).join(" ");
  const at = Math.floor(random() * text.length);
  if (kind < 0.75) return text.slice(at, at + 2 + Math.floor(random() * 3)).join(" ");
  const word = text[at] ?? "";
  return kind < 0.9 ? word : word.slice(0, 2 + Math.floor(random() * 3));
}

async function sizeOf(store: Queryable): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: "SELECT max(id) AS size FROM nonprofits",
    args: [],
  });
  return Number(rows[0]?.["size"] ?? 1);
}
