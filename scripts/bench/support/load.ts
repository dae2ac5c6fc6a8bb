import autocannon from "autocannon";

/** How long each of some requests took, in ms, and how many were answered in a second. */
export type Load = { timesMs: number[]; perSecond: number };

export type LoadOptions = {
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
 * Sends each request once, so many at a time, and reads every answer to its end. Throws on any status but the one
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
