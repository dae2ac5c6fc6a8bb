import { Cron } from "croner";
import { z } from "zod";
import { donationMax, microUsdcFrom } from "#content/contract/money.ts";
import { donationNetworks } from "#content/contract/transfer.ts";

const described = <Shape extends z.ZodType>(shape: Shape, meaning: string, fallback: string) =>
  shape.describe(`${meaning} (default: ${fallback})`).meta({ meaning, fallback });

const whole = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `send a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `send a whole number from ${min} to ${max}`)
    .default(fallback);

const usdc = z.string().transform((text, context) => {
  const amount = microUsdcFrom(text);
  if (amount !== null && amount <= donationMax) return amount;
  context.addIssue({ code: "custom", message: "send USDC as a plain decimal number, like 0.25" });
  return z.NEVER;
});

const choice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `send one of ${values.join(", ")}` });

/** Five or six fields, in UTC, that name at least one instant to come. */
const schedule = z.string().refine(
  (text) => {
    if (text === "off") return true;
    try {
      return new Cron(text, { timezone: "UTC" }).nextRun() !== null;
    } catch {
      return false;
    }
  },
  { error: "send a cron expression like `0 3 * * *`, or off" },
);

const origin = z
  .url({ protocol: /^https?$/, error: "send an origin like https://almoner.example" })
  .refine((text) => URL.canParse(text) && new URL(text).pathname === "/" && !/[?#]/.test(text), {
    error: "send only scheme and host, without a path",
  })
  .transform((text) => new URL(text).origin);

const urls = z
  .string()
  .transform((text) => text.split(",").map((one) => one.trim()))
  .pipe(
    z
      .array(z.url({ protocol: /^https?$/, error: "send http(s) URLs, comma-separated" }))
      .min(1)
      .max(20),
  );

const receivers = urls.refine(
  (all) => all.every((text) => !/^[a-z]+:\/\/[^/?#]*@/i.test(text) && !text.includes("#")),
  { error: "send http(s) URLs without user name and fragment, comma-separated" },
);

const operators = z
  .string()
  .transform((text) => text.split(",").map((pair) => pair.trim()))
  .pipe(
    z
      .array(
        z
          .string()
          .regex(
            /^[\w.-]{1,64}:[^\s:,]{16,}$/,
            "send name:token, comma-separated; a token has at least 16 characters",
          ),
      )
      .max(100),
  )
  .transform((pairs) =>
    pairs.map((pair) => ({
      name: pair.slice(0, pair.indexOf(":")),
      token: pair.slice(pair.indexOf(":") + 1),
    })),
  )
  // The log could not tell who decided.
  .refine((all) => new Set(all.map(({ token }) => token)).size === all.length, {
    error: "two operators have the same token: give each one of its own",
  });

/** Every environment variable that the project reads. A new setting is one line here and one in config.ts. */
export const settings = z
  .object({
    ALMONER_DATA_DIR: described(
      z.string().default(".almoner"),
      "folder of the store, the releases and the generated keys",
      "`.almoner` in the working folder",
    ),
    ALMONER_DATABASE_URL: described(
      z
        .string()
        .regex(/^(file:|https?:\/\/|libsql:\/\/)./, "send a file:, http(s): or libsql: URL")
        .optional(),
      "where the store is: a `file:`, `http(s):` or `libsql:` URL",
      "a file in the data folder",
    ),
    ALMONER_DATABASE_TOKEN: described(
      z.string().optional(),
      "token of the database server",
      "none",
    ),
    ALMONER_PORT: described(
      whole(0, 65_535, 8080),
      "port on which the service listens; 0 takes a free one",
      "8080",
    ),
    ALMONER_HOST: described(
      z.string().default("127.0.0.1"),
      "address on which the service listens",
      "127.0.0.1",
    ),
    ALMONER_BASE_URL: described(
      origin.optional(),
      "origin in absolute URLs; an input of the build",
      "`http://localhost:<port>`",
    ),
    ALMONER_READS_PER_MINUTE: described(
      whole(0, 100_000_000, 600),
      "service reads that one client may make in a minute; 0 for no limit",
      "600",
    ),
    ALMONER_TRUSTED_HOPS: described(
      whole(0, 16, 0),
      "proxies in front whose X-Forwarded-For is trusted",
      "0",
    ),
    ALMONER_NETWORK: described(
      choice(donationNetworks).default("local"),
      "network on which donations are made: `local`, `solana-devnet` or `solana`",
      "`local`",
    ),
    ALMONER_SOLANA_RPC_URLS: described(
      urls.optional(),
      "RPC endpoints, comma-separated; required unless the network is `local`",
      "the local chain",
    ),
    ALMONER_CHAIN_PORT: described(
      whole(0, 65_535, 8899),
      "port of the local chain, which `bun start` runs when no RPC endpoints are set; 0 takes a free one",
      "8899, or a free one when that is taken",
    ),
    ALMONER_FEE_PAYER_KEY: described(
      z
        .string()
        .regex(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/, "send a base58 secret key of 64 bytes")
        .optional(),
      "base58 key that sponsors network fees",
      "none: donors pay the fee; generated for `local` only",
    ),
    ALMONER_COMMITMENT: described(
      choice(["confirmed", "finalized"]).default("confirmed"),
      "when a transfer counts: `confirmed` or `finalized`",
      "`confirmed`",
    ),
    ALMONER_DONATION_WINDOW_S: described(
      whole(60, 604_800, 3_600),
      "maximum age of a transfer that is proven without our memo, in seconds",
      "3600",
    ),
    ALMONER_SPONSORED_MINIMUM: described(
      usdc.prefault("0.1"),
      "smallest donation, in USDC, for which the sponsor pays the network fee",
      "0.1",
    ),
    ALMONER_ADMIN_TOKENS: described(
      operators.optional(),
      "operators as `name:token`, comma-separated",
      "one is generated, stored and printed once",
    ),
    ALMONER_SIGNING_KEY: described(
      z.string().optional(),
      "Ed25519 private key (PKCS#8, PEM or base64) of snapshots and receipts",
      "generated and stored on first start",
    ),
    ALMONER_CONSENSUS: described(
      choice(["agents", "networks"]).default("agents"),
      "what counts as agreement: two `agents`, or two agents on two `networks`",
      "`agents`",
    ),
    ALMONER_WALLET_HOLD_HOURS: described(
      whole(1, 8_760, 72),
      "hours between the approval of a changed wallet and the moment it takes effect",
      "72",
    ),
    ALMONER_RECOMMENDATION_PHASE: described(
      choice(["1", "2", "3"]).default("1"),
      "phase of recommendation governance: 1, 2 or 3",
      "1",
    ),
    ALMONER_RECOMMENDATION_LOG_DAYS: described(
      whole(1, 3_650, 90),
      "days for which calls to recommend, and the visits that followed, are kept",
      "90",
    ),
    ALMONER_PUBLISH_WAIT_MS: described(
      whole(0, 30_000, 1_000),
      "how long a write waits for its change to be published, in milliseconds",
      "1000",
    ),
    ALMONER_RELEASES_KEPT: described(
      whole(1, 100_000, 200),
      "releases kept for a rollback; a change makes up to four: profile, lists, feed, search",
      "200",
    ),
    ALMONER_REBUILD_SCHEDULE: described(
      schedule.default("0 3 * * *"),
      "cron expression (UTC) of the full rebuild; `off` for none",
      "`0 3 * * *`",
    ),
    ALMONER_PRECOMPRESS: described(
      choice(["on", "off"]).default("off"),
      "whether the exported folder also holds compressed files (`.br`, `.gz`) for web servers: `on` or `off`",
      "`off`",
    ),
    ALMONER_SEARCH_INDEX: described(
      choice(["on", "off"]).default("on"),
      "whether to build a search index for people, in the background: `on` or `off`",
      "`on`",
    ),
    ALMONER_S3_URL: described(
      z
        .string()
        .regex(/^s3:\/\/[a-z0-9][a-z0-9.-]{1,62}(\/.*)?$/, "send s3://bucket or s3://bucket/prefix")
        .optional(),
      "bucket that every release is uploaded to: `s3://bucket/prefix`",
      "none",
    ),
    ALMONER_S3_EXTENSIONLESS: described(
      choice(["on", "off"]).default("off"),
      "whether to store pages in the bucket also under keys without an extension: `on` or `off`",
      "`off`",
    ),
    ALMONER_S3_ENDPOINT: described(
      origin.optional(),
      "origin of an S3-compatible store",
      "`S3_ENDPOINT`, `AWS_ENDPOINT_URL`; or Amazon's",
    ),
    ALMONER_S3_REGION: described(
      z
        .string()
        .regex(/^[\w-]{1,64}$/, "send a name like eu-north-1")
        .optional(),
      "region of the bucket",
      "`S3_REGION`, `AWS_REGION`; or us-east-1",
    ),
    ALMONER_S3_ACCESS_KEY_ID: described(
      z.string().optional(),
      "access key that may write to the bucket",
      "`S3_ACCESS_KEY_ID` or `AWS_…`",
    ),
    ALMONER_S3_SECRET_ACCESS_KEY: described(
      z.string().optional(),
      "secret of that key",
      "`S3_SECRET_ACCESS_KEY` or `AWS_…`",
    ),
    ALMONER_S3_SESSION_TOKEN: described(
      z.string().optional(),
      "token of a temporary key",
      "`S3_SESSION_TOKEN` or `AWS_…`",
    ),
    ALMONER_PURGE_URLS: described(
      urls.optional(),
      "caches to purge after each release, comma-separated",
      "none",
    ),
    ALMONER_PURGE_MODE: described(
      choice(["url", "xkey", "xkey-soft"]).default("url"),
      "how caches are purged: by `url`, or by surrogate key (`xkey`, `xkey-soft`)",
      "`url`",
    ),
    ALMONER_PURGE_HEADER: described(
      z
        .string()
        .regex(/^[\w-]{1,64}: ?[\x20-\x7e]+$/, "send a header like `Fastly-Key: secret`")
        .optional(),
      "header sent with each PURGE, for caches that want a key",
      "none",
    ),
    ALMONER_WEBHOOK_URLS: described(
      receivers.optional(),
      "addresses that receive webhooks about changed profiles and donations, comma-separated; no other host is contacted",
      "none: nothing is sent",
    ),
    ALMONER_WEBHOOK_SECRET: described(
      z
        .string()
        .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, "send whsec_ and 24 to 64 bytes in base64")
        .optional(),
      "secret that signs webhooks: `whsec_` and 24 to 64 bytes in base64",
      "generated and stored when webhooks are on",
    ),
    ALMONER_LOG_LEVEL: described(
      choice(["silent", "error", "warn", "info", "debug"]).default("info"),
      "what is logged to stderr: `silent`, `error`, `warn`, `info`, `debug` (searches, too)",
      "`info`",
    ),
  })
  .superRefine((all, context) => {
    if (all.ALMONER_NETWORK === "local" || all.ALMONER_SOLANA_RPC_URLS !== undefined) return;
    context.addIssue({
      code: "custom",
      path: ["ALMONER_SOLANA_RPC_URLS"],
      message: `send at least one RPC URL for ${all.ALMONER_NETWORK}`,
    });
  });
