import { join } from "node:path";
import { systemClock } from "#content/contract/base/time.ts";
import { findingsOf } from "#content/operation/checks.ts";
import { countActivity } from "#content/operation/activity-store.ts";
import { setDonationNetwork } from "#content/giving/store.ts";
import { every } from "#content/runtime/timing.ts";
import { StoreLost } from "#content/store/busy.ts";
import { openStore } from "#content/store/open.ts";
import { logRecommendations } from "#content/recommendation/log-store.ts";
import { watchChanges } from "#content/feed/store.ts";
import { createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { forgetGaps } from "#content/enrichment/gap-store.ts";
import { openCurated } from "#content/recommendation/curation.ts";
import { openResponseCache } from "./http/response-cache.ts";
import { openLog } from "./log.ts";
import type { Context } from "./context.ts";
import { accessCounts } from "./operator/health.ts";
import { openLimits } from "./http/rate-limit.ts";
import { givingWorld } from "#content/giving/world.ts";
import { openSearch } from "./search/engine.ts";
import { isUsed, openSecrets } from "./secrets.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import { onboardingKeys } from "#content/onboarding/keys.ts";
import { openMails } from "#content/onboarding/mails.ts";
import { openMail } from "./onboarding/host-proof.ts";
import { eraseOldContacts, expireWaiting } from "#api/operator/requests.ts";
import { startSweep, openDonationChain, refuseSample } from "#api/giving/start-giving.ts";

/** Dependencies that the caller has already opened. */
export type ServiceOverrides = Partial<
  Pick<
    Context,
    | "store"
    | "log"
    | "secrets"
    | "chain"
    | "waitForPublication"
    | "publication"
    | "bundleHolds"
    | "draw"
    | "stopping"
  >
>;

const flushEveryMs = 1_000;
const sweepEveryMs = 60_000;
const mailEveryMs = 30_000;
const lookEveryMs = 1_000;
const expireEveryMs = 3_600_000;
const checkEveryMs = 86_400_000;
/** The check starts late, so that it does not compete with the first answers for the disk. */
const checkAfterMs = 2_000;

/**
 * Opens all that the service needs: store, secrets, limits, log and counters. `overrides` replaces or adds some of it, for
 * example the wait for publication when a publisher runs in the same process.
 */
export async function openService(config: Config, overrides: ServiceOverrides = {}) {
  const log = overrides.log ?? openLog(config);
  const { databaseUrl: url, databaseToken: authToken } = config;
  const store =
    overrides.store ?? (await openStore({ url, authToken, create: !isUsed(config), serves: true }));
  await refuseSample(config, store);
  const clock = systemClock;
  const secrets = overrides.secrets ?? (await openSecrets(config, store, clock(), log));
  const watch = watchChanges(store);
  const notStored = (what: string) => (error: unknown) =>
    log.warn({ err: error }, `${what} not stored yet`);
  const context: Context = {
    ...overrides,
    config,
    store,
    log,
    clock,
    secrets,
    limits: openLimits(store.embedded ? join(config.dataDir, "limits.db") : store, {
      config,
      secrets,
      log,
    }),
    watch,
    cache: openResponseCache(watch),
    search: openSearch(store, watch, config),
    curated: openCurated(store, watch, config.recommendationPhase),
    chain: overrides.chain ?? (await openDonationChain(config, { secrets, log, clock })),
    recommendationLog: logRecommendations(store, notStored("recommendations"), {
      keptDays: config.recommendationLogDays,
    }),
    activity: countActivity(store, clock),
  };
  await setDonationNetwork(store, context.chain.caip2, clock());
  if (config.trustedHops === 0) {
    const access = await accessCounts(store, clock().getTime());
    for (const finding of findingsOf("proxies named", { access })) log.warn(finding);
  }
  const mailing = { everyMs: mailEveryMs, onFailure: notStored("what a mail told is") };
  const sendMail = openMail(config.mail, mailing.onFailure);
  const telling = { ...context, ...onboardingKeys(context), baseUrl: config.baseUrl };
  const working = [
    startSweep(givingWorld(context), log),
    startOnboardingSweep(context),
    ...(sendMail === null ? [] : [every(openMails({ ...telling, sendMail }), mailing)]),
    every(() => Promise.all([expireWaiting(context), forgetGaps(store, clock())]), {
      everyMs: expireEveryMs,
      onFailure: notStored("what has waited too long is"),
    }),
    every(async () => store.assertInPlace(), {
      everyMs: lookEveryMs,
      onFailure: (error) =>
        log.error({ err: error }, error instanceof StoreLost ? error.why : "the store was lost"),
    }),
    every(() => store.checkPages(), {
      everyMs: checkEveryMs,
      firstAfterMs: checkAfterMs,
      onFailure: (error) => log.error({ err: error }, "the check of the store failed"),
    }),
    every(() => context.activity.flush(), {
      everyMs: flushEveryMs,
      onFailure: notStored("counters"),
    }),
  ];
  return {
    app: createApp(context),
    context,
    /** Writes what is still in memory and closes everything. */
    close: async (): Promise<void> => {
      await Promise.all(working.map((loop) => loop.stop()));
      await context.activity.flush().catch(notStored("counters"));
      await context.recommendationLog.flush().catch(notStored("recommendations"));
      await context.limits.flush();
      context.limits.close();
      await context.search.close();
      if (overrides.store === undefined) store.close();
    },
  };
}

/**
 * Activates wallets whose hold has ended, and erases contacts of requests that were rejected long ago: at start and every
 * minute. Donations do not wait for it, because they read the wallet in effect.
 */
export const startOnboardingSweep = ({
  store,
  clock,
  log,
}: Pick<Context, "store" | "clock" | "log">): { stop(): Promise<void> } =>
  every(
    async () => {
      const applied = await applyDueWallets(store, clock());
      if (applied > 0) log.info({ applied }, "held wallets took effect");
      const erased = await eraseOldContacts({ store, clock });
      if (erased > 0) log.info({ erased }, "contacts of rejected requests were erased");
    },
    {
      everyMs: sweepEveryMs,
      onFailure: (error) =>
        log.warn({ err: error }, "held wallets could not be checked; trying again"),
    },
  );
