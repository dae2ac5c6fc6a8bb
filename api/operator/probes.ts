import { Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import { bearerOf, isLocal } from "#api/http/client.ts";
import { type Refusal, Refused } from "#api/http/problem.ts";
import { pathOf } from "#api/http/route.ts";
import { addresses } from "#content/contract/addresses.ts";
import { serviceOperations as service } from "#content/contract/operations/directory.ts";
import { software } from "#content/store/software.ts";
import type { Health, Ready } from "#content/contract/stats.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { firstChangeAfter } from "#content/operation/directory-facts-store.ts";
import { fullBelowBytes, publisherSilentMaxS, publishWaitMaxS } from "#content/operation/health.ts";
import { StoreLost } from "#content/store/busy.ts";
import { withTimeout } from "#content/runtime/timing.ts";
import { chainHealth, freeBytes } from "./health.ts";
import { isSameSecret, type OperatorContext } from "./operators.ts";

const notOpen: Refusal = {
  status: 403,
  code: "metrics_not_open",
  detail:
    "Metrics are read on this machine, without a proxy, or with the token of ALMONER_METRICS_TOKEN as Authorization: Bearer.",
};

const healthy = (): Health => ({ status: "ok", ...software() });

type MetricsText = { readonly contentType: string; text(): Promise<string> };

/** What machines ask that watch over the service. None of it may be cached. */
export const probeRoutes = (
  { config, publication, chain }: Pick<OperatorContext, "config" | "publication" | "chain">,
  {
    readiness,
    metrics,
    health = healthy(),
  }: { readiness: Readiness; metrics: MetricsText; health?: Health },
) =>
  new Elysia()
    .get(pathOf(service.getHealth), ({ set }) => {
      // Asks nothing of the store, so that a busy one is not taken for dead. No cache may answer in its place.
      set.headers["cache-control"] = "no-store";
      return health;
    })
    .get(pathOf(service.getReadiness), async ({ set }): Promise<Ready> => {
      const reasons = await readiness();
      if (reasons.length > 0) {
        const detail = `${reasons.map(({ why }) => why).join("; ")}.`;
        const headers = { "retry-after": "5" };
        throw new Refused({ status: 503, code: "not_ready", detail, extra: { reasons }, headers });
      }
      set.headers["cache-control"] = "no-store";
      const publisher = publication === undefined ? "none" : "ok";
      const asked = chain === null || chain.nodes === 0 ? "none" : "ok";
      return { status: "ready", parts: { store: "ok", chain: asked, publisher } };
    })
    .get(pathOf(addresses.metrics), async ({ request }) => {
      const { metricsToken } = config;
      const isOpen =
        metricsToken === undefined
          ? isLocal(request)
          : isSameSecret(metricsToken, bearerOf(request));
      if (!isOpen) throw new Refused(notOpen);
      const headers = { "content-type": metrics.contentType, "cache-control": "no-store" };
      return new Response(await metrics.text(), { headers });
    });

/** A part of the directory that is not as it has to be, and why, in words for an operator. */
export type Unready = { part: keyof Ready["parts"] | "service"; why: string };

const storeWaitMs = 2_000;
/** Everyone may ask, and each look asks the chain. */
const lookAgainAfterMs = 5_000;

const leaving: Unready = { part: "service", why: "the service is being stopped" };

export type Readiness = () => Promise<readonly Unready[]>;

/**
 * Looks at store, disk, chain and publisher, at most every 5 s; what is in order is left out. Takes at most 3 s. A process that
 * is being stopped says so at once.
 */
export function openReadiness(context: OperatorContext): Readiness {
  const looks = new LRUCache<"all", readonly Unready[]>({
    max: 1,
    ttl: lookAgainAfterMs,
    fetchMethod: async () => {
      const looked = await Promise.all([
        storeAndPublisher(context),
        diskTrouble(context),
        chainTrouble(context),
      ]);
      return looked.flat();
    },
  });
  return async () => {
    if (context.stopping?.aborted) return [leaving];
    // Known in microseconds: no one is told for 5 s more that a store is well which takes no writes.
    const misplaced = storeMisplaced(context);
    return misplaced === null ? looks.forceFetch("all") : [misplaced];
  };
}

/** Whether the store's files are gone or damaged: reads may go on all the same. */
function storeMisplaced({ store }: OperatorContext): Unready | null {
  try {
    store.assertInPlace();
    return null;
  } catch (error) {
    return { part: "store", why: error instanceof StoreLost ? error.why : "it cannot be found" };
  }
}

async function storeAndPublisher(context: OperatorContext): Promise<Unready[]> {
  const answered = withTimeout(newestSequence(context.store), storeWaitMs);
  const newest = await answered.catch((error: unknown) => error);
  if (typeof newest === "number") {
    const why = await publisherTrouble(context).catch(() => "the store does not tell what waits");
    return why === null ? [] : [{ part: "publisher", why }];
  }
  const why = newest === null ? "no answer in 2 s" : "it cannot be read";
  return [{ part: "store", why: `the store does not answer: ${why}` }];
}

/** A rollback that holds publishing is an operator's decision, and no trouble. */
async function publisherTrouble({
  store,
  clock,
  publication,
}: OperatorContext): Promise<string | null> {
  const at = publication?.();
  if (at === undefined) return null;
  if (at.silentMs === null) return "the publisher does not run";
  const silentS = Math.round(at.silentMs / 1_000);
  if (silentS > publisherSilentMaxS)
    return `the publisher has given no sign of life for ${silentS} s`;
  if (at.release === 0) return "nothing is published yet";
  const since = at.held ? null : await firstChangeAfter(store, Math.min(at.profilesTo, at.listsTo));
  const waitedS = since === null ? 0 : Math.round((clock().getTime() - since) / 1_000);
  return waitedS > publishWaitMaxS ? `a change has waited for ${waitedS} s to be published` : null;
}

async function diskTrouble({ config }: OperatorContext): Promise<Unready[]> {
  const free = await freeBytes(config.dataDir);
  return free === null || free >= fullBelowBytes
    ? []
    : [{ part: "store", why: `the disk is full: ${Math.floor(free / 1e6)} MB are left` }];
}

async function chainTrouble({ chain }: OperatorContext): Promise<Unready[]> {
  const health = await chainHealth(chain);
  // A directory may run without gifts; the health page says so.
  return health === null || health.nodes === 0 || health.answers
    ? []
    : [{ part: "chain", why: `the chain does not answer: ${health.why}` }];
}
