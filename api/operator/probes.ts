import { Elysia } from "elysia";
import { sharedLook } from "#content/runtime/cache.ts";
import { bearerOf, isLocal } from "#api/http/client.ts";
import { type Refusal, RefusalError } from "#api/http/problem.ts";
import { pathOf } from "#api/http/route.ts";
import { addresses } from "#content/contract/addresses.ts";
import { serviceOperations as service } from "#content/contract/operations/directory.ts";
import { software } from "#content/store/software.ts";
import type { Health, Ready } from "#content/contract/stats.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { type Unready, unreadyParts } from "#content/operation/checks.ts";
import { StoreLost } from "#content/store/busy.ts";
import { withTimeout } from "#content/runtime/timing.ts";
import { chainHealth, freeBytes, publicationHealth, silenceOf } from "./health.ts";
import { isSameSecret, type OperatorContext } from "./operators.ts";

const notOpen: Refusal = {
  status: 403,
  code: "metrics_not_open",
  detail:
    "Metrics are read on this machine, without a proxy, or with the token of ALMONER_METRICS_TOKEN as Authorization: Bearer.",
};

type MetricsText = { readonly contentType: string; text(): Promise<string> };

/** Routes for monitoring. Nothing of it may be cached. */
export const probeRoutes = (
  { config, publication, chain }: Pick<OperatorContext, "config" | "publication" | "chain">,
  { readiness, metrics }: { readiness: Readiness; metrics: MetricsText },
) => {
  const health: Health = { status: "ok", ...software() };
  return new Elysia()
    .get(pathOf(service.getHealth), ({ set }) => {
      // Does not ask the store, so that a busy one is not taken for dead. No cache may answer instead.
      set.headers["cache-control"] = "no-store";
      return health;
    })
    .get(pathOf(service.getReadiness), async ({ set }): Promise<Ready> => {
      const reasons = await readiness();
      if (reasons.length > 0) {
        const detail = `${reasons.map(({ why }) => why).join("; ")}.`;
        const headers = { "retry-after": "5" };
        throw new RefusalError({
          status: 503,
          code: "not_ready",
          detail,
          extensions: { reasons },
          headers,
        });
      }
      set.headers["cache-control"] = "no-store";
      const publisher = publication === undefined ? "none" : "ok";
      const chainState = chain === null || chain.nodes === 0 ? "none" : "ok";
      return { status: "ready", parts: { store: "ok", chain: chainState, publisher } };
    })
    .get(pathOf(addresses.metrics), async ({ request }) => {
      const { metricsToken } = config;
      const isOpen =
        metricsToken === undefined
          ? isLocal(request)
          : isSameSecret(metricsToken, bearerOf(request));
      if (!isOpen) throw new RefusalError(notOpen);
      const headers = { "content-type": metrics.contentType, "cache-control": "no-store" };
      return new Response(await metrics.text(), { headers });
    });
};

const storeWaitMs = 2_000;
/** Anyone may ask, and each look asks the chain, so a look is shared for this time. */
const lookAgainAfterMs = 5_000;

const leaving: Unready = { part: "service", why: "the service is being stopped" };

export type Readiness = () => Promise<readonly Unready[]>;

/**
 * Checks store, disk, chain and publisher, at most every 5 s and for at most 3 s. Returns only the parts that are not
 * ready. A process that is being stopped says so at once.
 */
export function openReadiness(context: OperatorContext): Readiness {
  const looks = sharedLook(lookAgainAfterMs, () => look(context));
  return async () => {
    if (context.stopping?.aborted) return [leaving];
    // Checked each time, as it takes microseconds: a store that takes no writes must not count as well for 5 s.
    const misplaced = storeMisplaced(context);
    return misplaced === null ? looks() : [misplaced];
  };
}

/** Reports a store whose files are gone or damaged, although reads may still work; else null. */
function storeMisplaced({ store }: OperatorContext): Unready | null {
  try {
    store.assertInPlace();
    return null;
  } catch (error) {
    return { part: "store", why: error instanceof StoreLost ? error.why : "it cannot be found" };
  }
}

/** The parts that do not work: the store, or what the checks find about publisher, disk and chain. */
async function look(context: OperatorContext): Promise<readonly Unready[]> {
  const { store, clock, config } = context;
  const [newest, free_bytes, chain] = await Promise.all([
    withTimeout(newestSequence(store), storeWaitMs).catch(() => undefined),
    freeBytes(config.dataDir),
    chainHealth(context.chain),
  ]);
  const others = () => unreadyParts({ store: { free_bytes }, chain });
  if (typeof newest !== "number") {
    const why = newest === null ? "no answer in 2 s" : "it cannot be read";
    return [{ part: "store", why: `the store does not answer: ${why}` }, ...others()];
  }
  try {
    const progress = await publicationHealth(context, newest, clock().getTime());
    const silent_s = silenceOf(context);
    return unreadyParts({ store: { free_bytes }, chain, publication: progress, silent_s });
  } catch {
    return [{ part: "publisher", why: "the store does not tell what waits" }, ...others()];
  }
}
