import { aFolder, forFile } from "./at-file-top.ts";
import { createApp } from "#api/app.ts";
import { type Config, readConfig } from "#api/config.ts";
import { openResponseCache } from "#api/http/response-cache.ts";
import type { Context } from "#api/context.ts";
import { openCurated } from "#content/recommendation/curation.ts";
import { openDonationChain } from "#api/giving/start-giving.ts";
import { openSearch } from "#api/search/engine.ts";
import { openLimits } from "#api/http/rate-limit.ts";
import { loadSecrets } from "#api/secrets.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { countActivity } from "#content/operation/activity-store.ts";
import { logRecommendations } from "#content/recommendation/log-store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { watchChanges } from "#content/feed/store.ts";
import { openBlankStore } from "#test/support/blank-store.ts";

export type TestService = Awaited<ReturnType<typeof aService>>;

/** The instant at which test services live, unless the test hands in a clock. */
export const testNow = new Date("2026-06-01T12:00:00Z");

let clients = 0;
/** The headers of a client on a network of its own, where one proxy is trusted. */
export const aClient = () => ({
  "x-forwarded-for": `10.${(clients >> 8) & 255}.${clients++ & 255}.1`,
});

/** The environment in which a command works on the store of this service. */
export const beside = ({ context: { config } }: Pick<TestService, "context">) => ({
  ALMONER_DATA_DIR: config.dataDir,
  ALMONER_DATABASE_URL: config.databaseUrl,
});

/** The whole service on a real store in a temporary folder, without a socket. Close it after the test. */
export async function aService(
  options: {
    env?: Record<string, string>;
    records?: NonprofitRecord[];
    context?: Partial<Context>;
  } = {},
) {
  const folder = aFolder();
  const dataDir = folder();
  const config: Config = readConfig({
    ALMONER_DATA_DIR: dataDir,
    ALMONER_BASE_URL: "https://almoner.example",
    ALMONER_READS_PER_MINUTE: "0",
    // Without a chain of its own a test has none, whatever else runs on this machine.
    ALMONER_CHAIN_PORT: "0",
    ...options.env,
  });
  const given = options.context ?? {};
  const store = given.store ?? (await openBlankStore(config.databaseUrl));
  const clock = given.clock ?? (() => testNow);
  const secrets = loadSecrets(config);
  const log = given.log ?? { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
  const watch = given.watch ?? watchChanges(store);
  const context: Context = {
    store,
    clock,
    config,
    secrets,
    log,
    limits: openLimits(folder("limits.db"), { config, secrets, log }),
    watch,
    cache: openResponseCache(watch),
    search: openSearch(store, watch, {
      databaseUrl: config.databaseUrl,
      baseUrl: config.baseUrl,
      threads: 0,
    }),
    curated: openCurated(store, watch, config.recommendationPhase),
    chain: given.chain ?? (await openDonationChain(config, { secrets, log, clock })),
    recommendationLog: logRecommendations(store, () => {}, {
      keptDays: config.recommendationLogDays,
    }),
    activity: countActivity(store, clock),
    ...given,
  };
  /** Stores these nonprofits as new. */
  const add = (...records: NonprofitRecord[]) =>
    store.write((tx) =>
      saveNonprofits(
        tx,
        records.map((after) => ({ before: null, after })),
        { origin: "seed", now: clock() },
      ),
    );
  if (options.records !== undefined) await add(...options.records);
  /** A nonprofit as it is stored. */
  const live = async (slug: string): Promise<NonprofitRecord> => {
    const record = await recordBySlug(store, slug);
    if (record === null) throw new Error(`no ${slug}`);
    return record;
  };
  const app = createApp(context);
  /** Any request to the service; `path` begins with a slash. */
  const request = (path: string, init: RequestInit = {}) =>
    app.handle(new Request(`http://localhost${path}`, init));
  const get = (path: string, headers: Record<string, string> = {}) => request(path, { headers });
  const close = () => {
    void context.search.close();
    context.limits.close();
    store.close();
    folder.close();
  };
  return {
    app,
    context,
    store,
    request,
    get,
    /** The JSON that a GET answers. */
    json: async (path: string, headers?: Record<string, string>) =>
      (await get(path, headers)).json(),
    /** The rows that a statement answers. */
    rows: async (
      sql: string,
      args: (string | number | null)[] = [],
    ): Promise<Record<string, unknown>[]> =>
      (await store.raw.execute({ sql, args })).rows.map((row) => ({ ...row })),
    /** A POST of a JSON body. */
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      request(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    add,
    live,
    /** Lets a stored nonprofit be another. */
    change: async (slug: string, parts: Partial<NonprofitRecord>) => {
      const before = await live(slug);
      const saves = [{ before, after: { ...before, ...parts } }];
      const how = { origin: "test", now: clock() };
      await store.write((tx) => saveNonprofits(tx, saves, how));
    },
    close,
    [Symbol.dispose]: close,
  };
}

export const theService = forFile(aService);
