import { Cron } from "croner";
import { z } from "zod";
import { objectIn } from "#content/contract/base/json.ts";
import { donationMax, microUsdcFrom } from "#content/contract/base/money.ts";
import { WayToGive } from "#content/contract/nonprofit.ts";
import { donationNetworks } from "#content/contract/transfer.ts";

/** Any text; optional. */
export const anyText = z.string().optional();

/** A text that fits the pattern; `form` says what to send. */
export const matching = (pattern: RegExp, form: string) =>
  z.string().regex(pattern, `send ${form}`).optional();

/** The address at which someone can be contacted. */
export const contact = matching(
  /^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s/]+\S*)$/,
  "a URL like mailto:desk@almoner.example",
);

/** A whole number in decimal digits, bounds included. */
export const whole = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `send a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `send a whole number from ${min} to ${max}`)
    .default(fallback);

/** An amount of USDC, in millionths. */
export const usdc = (fallback: string) =>
  z
    .string()
    .transform((text, context) => {
      const amount = microUsdcFrom(text);
      if (amount !== null && amount <= donationMax) return amount;
      const message = "send USDC as a plain decimal number, like 0.25";
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .prefault(fallback);

export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `send one of ${values.join(", ")}` });

export const choice = <const Value extends string>(
  values: readonly [Value, ...Value[]],
  fallback: NoInfer<Value>,
) => oneOf(values).default(fallback);

export const onOrOff = (fallback: "on" | "off") => choice(["on", "off"], fallback);

/** A cron expression of five or six fields, in UTC, with at least one future time; or "off". */
export const schedule = (fallback: string) =>
  z
    .string()
    .refine(
      (text) => {
        if (text === "off") return true;
        try {
          return new Cron(text, { timezone: "UTC" }).nextRun() !== null;
        } catch {
          return false;
        }
      },
      { error: "send a cron expression like `0 3 * * *`, or off" },
    )
    .default(fallback);

export const origin = z
  .url({ protocol: /^https?$/, error: "send an origin like https://almoner.example" })
  .refine((text) => URL.canParse(text) && new URL(text).pathname === "/" && !/[?#]/.test(text), {
    error: "send only scheme and host, without a path",
  })
  .transform((text) => new URL(text).origin);

/** One to twenty http(s) URLs, comma-separated. */
export const urls = z
  .string()
  .transform((text) => text.split(",").map((entry) => entry.trim()))
  .pipe(
    z
      .array(z.url({ protocol: /^https?$/, error: "send http(s) URLs, comma-separated" }))
      .min(1)
      .max(20),
  );

/** Link templates as a JSON array; each is an https address with {number} once in its path or query. */
export const givingLinks = z
  .string()
  .transform((text) => objectIn(`{"links": ${text}}`)?.["links"])
  .pipe(
    z
      .array(
        z.strictObject({
          ...WayToGive.omit({ kind: true }).shape,
          scheme: z.string().regex(/^[A-Z]{2}-[A-Z0-9]+$/, "send a scheme like US-EIN"),
          label: z.string().trim().min(1).max(80),
          url: z
            .string()
            .regex(
              /^https:\/\/[a-z0-9.-]+(?::\d+)?[/?][\w./?=&%~+-]*\{number\}[\w./?=&%~+-]*$/,
              "send an https URL with {number} once, like https://giving.example/us/{number}",
            ),
        }),
        { error: "send a JSON array" },
      )
      .max(20),
  )
  .optional();

const tokenBitsMin = 128;
const distinctMin = 8;
/** Kinds of characters in a token, and the number of each kind. */
const alphabets: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/\d/, 10],
  [/[-_]/, 2],
  [/[^\w-]/, 30],
];

/** The most bits that a token of this length and these kinds of characters can hold; 0 below 8 different characters. */
function bitsOf(token: string): number {
  if (new Set(token).size < distinctMin) return 0;
  const used = alphabets.filter(([kind]) => kind.test(token));
  const size = used.reduce((sum, [, count]) => sum + count, 0);
  return token.length * Math.log2(/^[0-9a-f]+$/i.test(token) ? Math.min(16, size) : size);
}

const random = (token: string): boolean => bitsOf(token) >= tokenBitsMin;
const notRandom = (made: string) =>
  `a token needs ${tokenBitsMin} random bits: make ${made} with \`openssl rand -hex 32\``;

/** A bearer token of at least 128 random bits. */
export const bearerToken = z.string().refine(random, { error: notRandom("one") });

/** `name:token` pairs with different, random tokens. */
export const operators = z
  .string()
  .transform((text) => text.split(",").map((pair) => pair.trim()))
  .pipe(
    z
      .array(
        z
          .string()
          .regex(
            /^[\w.-]{1,64}:[^\s:,]+$/,
            "send name:token, comma-separated; a token has no space, colon or comma",
          )
          .refine((pair) => random(pair.slice(pair.indexOf(":") + 1)), {
            error: notRandom("each"),
          }),
      )
      .max(100),
  )
  .transform((pairs) =>
    pairs.map((pair) => ({
      name: pair.slice(0, pair.indexOf(":")),
      token: pair.slice(pair.indexOf(":") + 1),
    })),
  )
  // With a shared token the log could not tell who decided.
  .refine((all) => new Set(all.map(({ token }) => token)).size === all.length, {
    error: "two operators have the same token: give each one of its own",
  });

/**
 * Every environment variable that the project reads. A new setting is one line here and one in ../config.ts; its meaning,
 * and any fallback that is not a default here, belong in content/editorial/settings.json.
 */
export const settings = z
  .object({
    ALMONER_DATA_DIR: z.string().default(".almoner"),
    ALMONER_PUBLIC_DIR: anyText,
    ALMONER_DATABASE_URL: matching(
      /^(file:|https?:\/\/|libsql:\/\/)./,
      "a file:, http(s): or libsql: URL",
    ),
    ALMONER_DATABASE_TOKEN: anyText,
    ALMONER_PORT: whole(0, 65_535, 8080),
    ALMONER_HOST: z.string().default("127.0.0.1"),
    ALMONER_DRAIN_S: whole(0, 3, 0),
    ALMONER_BASE_URL: origin.optional(),
    ALMONER_CONTACT: contact,
    ALMONER_OPERATOR: anyText,
    ALMONER_OPERATOR_COUNTRY: matching(/^[A-Z]{2}$/, "a country's two letters, like GB"),
    ALMONER_SECURITY_CONTACT: contact,
    ALMONER_GIVING_LINKS: givingLinks,
    ALMONER_READS_PER_MINUTE: whole(0, 100_000_000, 600),
    ALMONER_DONATE_PER_MINUTE: whole(0, 100_000_000, 60),
    ALMONER_STORED_MB_PER_DAY: whole(0, 1_000_000, 100),
    ALMONER_TRUSTED_HOPS: whole(0, 16, 0),
    ALMONER_NETWORK: choice(donationNetworks, "local"),
    ALMONER_SOLANA_RPC_URLS: urls.optional(),
    ALMONER_CHAIN_PORT: whole(0, 65_535, 8899),
    ALMONER_FEE_PAYER_KEY: matching(
      /^[1-9A-HJ-NP-Za-km-z]{80,90}$/,
      "a base58 secret key of 64 bytes",
    ),
    ALMONER_COMMITMENT: choice(["confirmed", "finalized"], "confirmed"),
    ALMONER_FINALIZED_ABOVE: usdc("100"),
    ALMONER_DONATION_WINDOW_S: whole(60, 604_800, 3_600),
    ALMONER_SPONSORED_MINIMUM: usdc("0.01"),
    ALMONER_SPONSOR_LAMPORTS_PER_DAY: whole(0, 999_999_999, 50_000_000),
    ALMONER_SPONSOR_LAMPORTS_PER_DONOR: whole(0, 999_999_999, 200_000),
    ALMONER_SPONSOR_LAMPORTS_PER_NONPROFIT: whole(0, 999_999_999, 10_000_000),
    ALMONER_ADMIN_TOKENS: operators.optional(),
    ALMONER_SIGNING_KEY: anyText,
    ALMONER_CONSENSUS: choice(["agents", "networks"], "agents"),
    ALMONER_WALLET_HOLD_HOURS: whole(1, 8_760, 72),
    ALMONER_WALLET_APPROVALS: choice(["1", "2"], "1"),
    ALMONER_CLAIM_CHECKS: onOrOff("on"),
    ALMONER_CLAIM_RESOLVER: matching(
      /^(?:[\d.]+(?::\d+)?|\[?[\da-f:]+\]?(?::\d+)?)$/i,
      "an IP address like 9.9.9.9:53",
    ),
    ALMONER_CLAIM_PORTS: z
      .string()
      .regex(/^\d{1,5},\d{1,5}$/, "send two ports like 443,80")
      .default("443,80"),
    ALMONER_CLAIM_ADDRESSES: matching(
      /^[\da-f.:]+(?:,[\da-f.:]+)*$/i,
      "IP addresses, comma-separated",
    ),
    ALMONER_SMTP_URL: matching(/^smtps?:\/\/./, "an smtp: or smtps: URL"),
    ALMONER_MAIL_FROM: matching(
      /^[^\r\n]*[^\s@]+@[^\s@]+$/,
      "an address like desk@almoner.example",
    ),
    ALMONER_RECOMMENDATION_PHASE: choice(["1", "2", "3"], "1"),
    ALMONER_RECOMMENDATION_LOG_DAYS: whole(1, 3_650, 90),
    ALMONER_PUBLISH_WAIT_MS: whole(0, 30_000, 1_000),
    ALMONER_RELEASES_KEPT: whole(1, 100_000, 200),
    ALMONER_LIST_VALID_DAYS: whole(2, 90, 7),
    ALMONER_IMPORT_SCHEDULE: schedule("off"),
    ALMONER_REGISTER_ORIGIN: origin.optional(),
    ALMONER_BACKUP_SCHEDULE: schedule("30 2 * * *"),
    ALMONER_BACKUP_TO: anyText,
    ALMONER_BACKUP_PASSPHRASE: z
      .string()
      .min(16, "send at least 16 characters, for example of `openssl rand -base64 24`")
      .optional(),
    ALMONER_UPKEEP_SCHEDULE: schedule("0 4 * * *"),
    ALMONER_REBUILD_SCHEDULE: schedule("0 3 * * *"),
    ALMONER_PRECOMPRESS: onOrOff("off"),
    ALMONER_SEARCH_INDEX: onOrOff("on"),
    ALMONER_PICTURES: onOrOff("on"),
    ALMONER_S3_URL: matching(
      /^s3:\/\/[a-z0-9][a-z0-9.-]{1,62}(\/.*)?$/,
      "s3://bucket or s3://bucket/prefix",
    ),
    ALMONER_S3_EXTENSIONLESS: onOrOff("off"),
    ALMONER_S3_ENDPOINT: origin.optional(),
    ALMONER_S3_REGION: matching(/^[\w-]{1,64}$/, "a name like eu-north-1"),
    ALMONER_S3_ACCESS_KEY_ID: anyText,
    ALMONER_S3_SECRET_ACCESS_KEY: anyText,
    ALMONER_S3_SESSION_TOKEN: anyText,
    ALMONER_PURGE_URLS: urls.optional(),
    ALMONER_PURGE_MODE: choice(["url", "xkey", "xkey-soft", "cloudflare", "cloudfront"], "url"),
    ALMONER_PURGE_HEADER: matching(
      /^[\w-]{1,64}: ?[\x20-\x7e]+$/,
      "a header like `Fastly-Key: secret`",
    ),
    ALMONER_LOG_LEVEL: choice(["silent", "error", "warn", "info", "debug"], "info"),
    ALMONER_LOG_FORMAT: oneOf(["json", "plain"]).optional(),
    ALMONER_METRICS_TOKEN: bearerToken.optional(),
  })
  .superRefine((all, context) => {
    const refuse = (name: keyof typeof all, message: string) =>
      context.addIssue({ code: "custom", path: [name], message });
    const names = new Set(all.ALMONER_ADMIN_TOKENS?.map(({ name }) => name));
    if (all.ALMONER_WALLET_APPROVALS === "2" && names.size < 2)
      refuse("ALMONER_WALLET_APPROVALS", "name two operators in ALMONER_ADMIN_TOKENS, or send 1");
    if ((all.ALMONER_SMTP_URL === undefined) !== (all.ALMONER_MAIL_FROM === undefined))
      refuse("ALMONER_MAIL_FROM", "set ALMONER_SMTP_URL and ALMONER_MAIL_FROM, or neither");
    if (all.ALMONER_NETWORK !== "local" && all.ALMONER_SOLANA_RPC_URLS === undefined)
      refuse("ALMONER_SOLANA_RPC_URLS", `send at least one RPC URL for ${all.ALMONER_NETWORK}`);
  });
