import { randomUUID } from "node:crypto";
import { fetchPlain } from "#content/runtime/plain-fetch.ts";
import { eachAtMost, retry, type RetryOptions } from "#content/runtime/concurrency.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import type { BundleContext } from "#site/bundle/release.ts";
import { type FollowingWork, inBackground } from "#content/runtime/timing.ts";
import { headersOf, missingKey, urlPathsOf } from "./http-headers.ts";

export type PurgeMode = "url" | keyof typeof dialects;

export type PurgeConfig = {
  /** The base URL of each cache, zone (`cloudflare`) or distribution, without a trailing slash. Empty: no purges. */
  urls: readonly string[];
  /** `url`: one PURGE per address. The others purge by surrogate key; `xkey-soft` may serve the old file once more. */
  mode: PurgeMode;
  /** The host of the site, for caches that serve several sites. */
  host?: string;
  /** Headers of each request, for example with a token. */
  headers?: Readonly<Record<string, string>>;
  /** Signs each request, for CloudFront. */
  sign?: (url: string, init: RequestInit) => Promise<Request>;
  /** Least time between two purges after releases; the default depends on the mode. */
  gatherMs?: number;
  retry?: RetryOptions;
  log: BundleContext["log"];
};

export type PurgeOutcome = { requests: number; failed: number; leftToExpire: number };

const urlsMax = 5_000;
/** Varnish accepts headers up to 8 kB. */
const keyHeaderMax = 4_000;
const concurrencyMax = 8;
const timeoutMs = 5_000;
const retryDefault: RetryOptions = { triesMax: 3, firstMs: 100, factor: 5 };

/**
 * Purges the paths that a release changed from every cache. Never throws, and gives up soon: what is not purged expires by
 * its max-age, which is logged. Beyond the dialect's `keysMax` everything is purged; URLs beyond `urlsMax` expire.
 */
export async function purgeRelease(
  changedPaths: readonly string[],
  config: PurgeConfig,
): Promise<PurgeOutcome> {
  const outcome: PurgeOutcome = { requests: 0, failed: 0, leftToExpire: 0 };
  // Caches revalidate `no-cache` files on each request, so those need no purge.
  const paths = changedPaths.filter((path) => !headersOf(path).cacheControl.includes("no-cache"));
  if (paths.length === 0 || config.urls.length === 0) return outcome;
  const { mode } = config;
  const purges = mode === "url" ? byUrl(paths, outcome) : byKey(paths, dialects[mode]);
  const requests = config.urls.flatMap((url) =>
    purges.map((request) => ({ ...request, cache: url })),
  );
  await eachAtMost(concurrencyMax, requests, async (request) => {
    outcome.requests++;
    const error = await send(request, config);
    if (error === null) return;
    outcome.failed++;
    if (outcome.failed === 1) config.log("a cache was not purged", { cache: request.cache, error });
  });
  if (outcome.failed + outcome.leftToExpire > 0) {
    config.log("caches hold old files until their max-age", outcome);
  }
  return outcome;
}

type PurgeRequest = {
  path: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
};

function byUrl(paths: readonly string[], outcome: PurgeOutcome): PurgeRequest[] {
  const urls = paths.flatMap(urlPathsOf);
  outcome.leftToExpire = Math.max(0, urls.length - urlsMax);
  const method = "PURGE";
  return urls.slice(0, urlsMax).map((path) => ({ path: encodeURI(path), method, headers: {} }));
}

/** With more than `keysMax` keys everything is purged; `gatherMs` is the least time between two purges after releases. */
type Dialect = { keysMax: number; gatherMs: number; requests: (keys: string[]) => PurgeRequest[] };

const dialects = {
  xkey: { keysMax: 2_000, gatherMs: 0, requests: (keys) => byHeader("xkey-purge", keys) },
  "xkey-soft": {
    keysMax: 2_000,
    gatherMs: 0,
    requests: (keys) => byHeader("xkey-softpurge", keys),
  },
  // Source: Cloudflare, "Purge cache": 100 tags in a request, and in the free plan five requests a minute.
  cloudflare: {
    keysMax: 99,
    gatherMs: 12_000,
    requests: (keys) => [post("/purge_cache", JSON.stringify({ tags: keys }))],
  },
  // CloudFront charges for each key.
  cloudfront: {
    keysMax: 30,
    gatherMs: 60_000,
    requests: (keys) => [post("/invalidation", invalidationOf(keys))],
  },
} as const satisfies Record<string, Dialect>;

function byKey(paths: readonly string[], { keysMax, requests }: Dialect): PurgeRequest[] {
  const narrowest = new Set(paths.flatMap((path) => headersOf(path).surrogateKeys.slice(0, 1)));
  return requests(narrowest.size > keysMax ? ["all"] : [missingKey, ...narrowest]);
}

function post(path: string, body: string): PurgeRequest {
  const type = body.startsWith("<") ? "text/xml" : "application/json";
  return { path, method: "POST", headers: { "content-type": type }, body };
}

function byHeader(header: string, keys: readonly string[]): PurgeRequest[] {
  const texts: string[] = [];
  for (const key of keys) {
    const last = texts.at(-1) ?? "";
    if (last === "" || last.length + key.length >= keyHeaderMax) texts.push(key);
    else texts[texts.length - 1] = `${last} ${key}`;
  }
  return texts.map((text) => ({ path: "/", method: "PURGE", headers: { [header]: text } }));
}

/** The body of CreateInvalidation; "#" makes a path a tag. A retry sends the same reference: no second invalidation. */
function invalidationOf(keys: readonly string[]): string {
  const items = keys.map((key) => `<Path>#${key}</Path>`).join("");
  return `<InvalidationBatch xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Paths><Quantity>${keys.length}</Quantity><Items>${items}</Items></Paths><CallerReference>${randomUUID()}</CallerReference></InvalidationBatch>`;
}

/** Returns an error message, null when the cache accepted the purge. */
async function send(
  { cache, path, method, headers, body }: PurgeRequest & { cache: string },
  { host, headers: ownHeaders, sign, retry: waits = retryDefault }: PurgeConfig,
): Promise<string | null> {
  // A CDN's API has its own host, so only PURGE requests carry the site's.
  const site = host !== undefined && method === "PURGE" ? { host } : {};
  const init = { method, headers: { ...ownHeaders, ...headers, ...site }, body: body ?? null };
  const attempt = async () => {
    try {
      const request = (await sign?.(cache + path, init)) ?? new Request(cache + path, init);
      const response = await fetchPlain(request, {
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      const { ok, status } = response;
      // Some caches answer 404 when they did not have the file.
      if (ok || (status === 404 && method === "PURGE")) return { error: null, passing: false };
      return { error: `it answered ${status}`, passing: status >= 500 || status === 429 };
    } catch (error) {
      return { error: error instanceof Error ? error.message : "no answer", passing: true };
    }
  };
  const { error } = await retry(attempt, ({ passing }) => passing, waits);
  return error;
}

/**
 * Purges caches after each release, in the background. The manifest records the progress, so releases made just before a
 * crash are purged at the next start.
 */
export function startPurger(manifest: Manifest, config: PurgeConfig): FollowingWork {
  const work = inBackground(
    () => purgeNew(manifest, config),
    (error) => config.log("purging failed", { error: String(error) }),
    gatherMsOf(config),
  );
  return { ...work, notice: () => void (config.urls.length > 0 && work.notice()) };
}

/** How long to gather releases before one purge of these caches. */
export const gatherMsOf = ({ mode, gatherMs }: PurgeConfig): number =>
  gatherMs ?? (mode === "url" ? 0 : dialects[mode].gatherMs);

/**
 * Purges what changed since the last purge. The export of a large release lags behind, and a cache before that folder may
 * fetch an old file meanwhile, so paths purged before their export are purged again.
 */
async function purgeNew(manifest: Manifest, config: PurgeConfig): Promise<void> {
  const state = manifest.state();
  const { current_release, exported_release } = state;
  const { purged_release: purgedRelease = 0, purged_in_folder: inFolder = 0 } = state;
  // `history` has a row for every path that a release changed.
  const changedPaths = manifest.selectPaths(
    `SELECT DISTINCT path FROM history
     WHERE (release > ?1 AND release <= ?2) OR (release > ?3 AND release <= ?4)`,
    [purgedRelease, current_release, inFolder, Math.min(exported_release, purgedRelease)],
  );
  await purgeRelease(changedPaths, config);
  manifest.setState({
    purged_release: current_release,
    purged_in_folder: Math.max(inFolder, Math.min(exported_release, current_release)),
  });
}
