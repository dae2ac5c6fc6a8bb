import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import settingWords from "#content/editorial/settings.json";
import { settings } from "./settings.ts";

type Raw = z.infer<typeof settings>;

/** The settings of one process, parsed and completed. Nothing else in the project reads the environment. */
export type Config = ReturnType<typeof completed>;

/** A setting that cannot be used; the message names the variable and says what it should hold. */
export class BadSetting extends Error {
  override name = "BadSetting";
}

/**
 * Parses an environment. An empty variable counts as absent. Throws BadSetting that names every bad variable and what it
 * should hold, but never its value, because some are secret.
 */
export function readConfig(env: Environment): Config {
  const webhook = Object.keys(env).find((name) => name.startsWith("ALMONER_WEBHOOK_") && env[name]);
  if (webhook !== undefined) throw new BadSetting(`${webhook}: ${noWebhooks}`);
  const variables = Object.fromEntries(
    Object.keys(settings.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const parsed = settings.safeParse(variables);
  if (!parsed.success) throw new BadSetting(parsed.error.issues.map(explain).join("\n"));
  const config = completed(parsed.data, env);
  const { publicDir } = config;
  if (publicDir !== null && `${config.dataDir}${sep}`.startsWith(`${publicDir}${sep}`)) {
    throw new BadSetting("ALMONER_PUBLIC_DIR: name a folder that does not hold the data folder.");
  }
  return config;
}

const noWebhooks =
  "remove it, for there are no webhooks any more; receivers read the change feed, /changes/state.json (docs/feed.md).";

const completed = (raw: Raw, env: Environment) => ({
  dataDir: resolve(raw.ALMONER_DATA_DIR),
  /** A folder to which published files are also written as plain files, for other web servers; null for none. */
  publicDir: raw.ALMONER_PUBLIC_DIR === undefined ? null : resolve(raw.ALMONER_PUBLIC_DIR),
  databaseUrl:
    raw.ALMONER_DATABASE_URL ?? pathToFileURL(join(raw.ALMONER_DATA_DIR, "store.db")).href,
  databaseToken: raw.ALMONER_DATABASE_TOKEN,
  port: raw.ALMONER_PORT,
  host: raw.ALMONER_HOST,
  /** How long a service that was told to stop still answers. */
  drainMs: raw.ALMONER_DRAIN_S * 1_000,
  /** Origin of absolute URLs, without a trailing slash. */
  baseUrl: raw.ALMONER_BASE_URL ?? `http://localhost:${raw.ALMONER_PORT}`,
  /** A mailto: or https: URL; undefined for the role mailbox. */
  contact: raw.ALMONER_CONTACT,
  /** Who runs the directory, and in which country (ISO 3166). */
  operator: raw.ALMONER_OPERATOR,
  operatorCountry: raw.ALMONER_OPERATOR_COUNTRY,
  securityContact: raw.ALMONER_SECURITY_CONTACT,
  /** Bytes that all senders without a key may store in a day; 0 for no limit. */
  storedPerDay: raw.ALMONER_STORED_MB_PER_DAY * 1_000_000,
  /** Services that take donations for organisations by their register number. */
  givingLinks: raw.ALMONER_GIVING_LINKS ?? [],
  readsPerMinute: raw.ALMONER_READS_PER_MINUTE,
  donatePerMinute: raw.ALMONER_DONATE_PER_MINUTE,
  trustedHops: raw.ALMONER_TRUSTED_HOPS,
  network: raw.ALMONER_NETWORK,
  ...chainOf(raw),
  feePayerKey: raw.ALMONER_FEE_PAYER_KEY,
  commitment: raw.ALMONER_COMMITMENT,
  /** A gift above this amount counts only when it is finalized. */
  finalizedAbove: raw.ALMONER_FINALIZED_ABOVE,
  /** Maximum age of a transfer that is proven without our memo. */
  donationWindowMs: raw.ALMONER_DONATION_WINDOW_S * 1_000,
  /** The sponsor pays the network fee of donations from this amount on. */
  sponsoredMin: raw.ALMONER_SPONSORED_MINIMUM,
  /** Lamports that the sponsor may spend in 24 hours. */
  sponsorBudget: {
    day: raw.ALMONER_SPONSOR_LAMPORTS_PER_DAY,
    donor: raw.ALMONER_SPONSOR_LAMPORTS_PER_DONOR,
    nonprofit: raw.ALMONER_SPONSOR_LAMPORTS_PER_NONPROFIT,
  },
  /** Operators and their tokens; empty when one is to be generated. */
  adminTokens: raw.ALMONER_ADMIN_TOKENS ?? [],
  signingKey: raw.ALMONER_SIGNING_KEY,
  consensus: raw.ALMONER_CONSENSUS,
  /** Time between the approval of a wallet and its effect. */
  walletHoldMs: raw.ALMONER_WALLET_HOLD_HOURS * 3_600_000,
  /** Number of operators who must approve a request that sets a wallet. */
  walletApprovals: Number(raw.ALMONER_WALLET_APPROVALS) as 1 | 2,
  /** Whether the service may contact the hosts that claims name. */
  claimChecks: raw.ALMONER_CLAIM_CHECKS === "on",
  claimResolver: raw.ALMONER_CLAIM_RESOLVER,
  /** Ports for https and for http. */
  claimPorts: raw.ALMONER_CLAIM_PORTS.split(",").map(Number) as [number, number],
  /** Addresses that may be contacted although they are not public. */
  claimAddresses: raw.ALMONER_CLAIM_ADDRESSES?.split(",") ?? [],
  /** How to mail the links of claims; null when no mail is sent. */
  mail: mailOf(raw),
  recommendationPhase: Number(raw.ALMONER_RECOMMENDATION_PHASE) as 1 | 2 | 3,
  /** Days for which calls of recommend, and what followed them, are stored. */
  recommendationLogDays: raw.ALMONER_RECOMMENDATION_LOG_DAYS,
  publishWaitMs: raw.ALMONER_PUBLISH_WAIT_MS,
  /** How many days mirrors treat the signed list as the newest. */
  listValidDays: raw.ALMONER_LIST_VALID_DAYS,
  releasesKept: raw.ALMONER_RELEASES_KEPT,
  /** When registers are fetched again; "off" for never. */
  importSchedule: raw.ALMONER_IMPORT_SCHEDULE,
  /** Replaces the origins of the registers; undefined for the real ones. */
  registerOrigin: raw.ALMONER_REGISTER_ORIGIN,
  rebuildSchedule: raw.ALMONER_REBUILD_SCHEDULE,
  /** When space is freed; "off" for never. */
  upkeepSchedule: raw.ALMONER_UPKEEP_SCHEDULE,
  backup: {
    /** "off" for never. */
    schedule: raw.ALMONER_BACKUP_SCHEDULE,
    /** A folder, or s3://bucket/prefix. */
    to: raw.ALMONER_BACKUP_TO ?? join(resolve(raw.ALMONER_DATA_DIR), "backups"),
    /** Null when backups leave out the keys. */
    passphrase: raw.ALMONER_BACKUP_PASSPHRASE ?? null,
  },
  /** Whether the exported folder has compressed siblings of its files. */
  precompress: raw.ALMONER_PRECOMPRESS === "on",
  searchIndex: raw.ALMONER_SEARCH_INDEX === "on",
  /** Whether the directory publishes pictures for other sites. */
  pictures: raw.ALMONER_PICTURES === "on",
  s3: s3Of(raw, env),
  /** Caches to purge after each release; empty for none. */
  purgeUrls: (raw.ALMONER_PURGE_URLS ?? []).map((url) => url.replace(/\/+$/, "")),
  purgeMode: raw.ALMONER_PURGE_MODE,
  /** Sent with each PURGE. */
  purgeHeaders: headerOf(raw.ALMONER_PURGE_HEADER),
  logLevel: raw.ALMONER_LOG_LEVEL,
  /** Undefined for plain text on a terminal and JSON elsewhere. */
  logFormat: raw.ALMONER_LOG_FORMAT,
  /** Without a token, only this machine may read metrics. */
  metricsToken: raw.ALMONER_METRICS_TOKEN,
});

/**
 * RPC nodes, the best first, and the port of the local chain that `bun start` runs: 0 for a free one, null for no local
 * chain. With a free port there are no nodes yet, because only the local chain knows its address.
 */
function chainOf({
  ALMONER_NETWORK: network,
  ALMONER_SOLANA_RPC_URLS: urls,
  ALMONER_CHAIN_PORT: port,
}: Raw): { solanaRpcUrls: string[]; localChainPort: number | null } {
  if (urls !== undefined || network !== "local") {
    return { solanaRpcUrls: urls ?? [], localChainPort: null };
  }
  return { solanaRpcUrls: port === 0 ? [] : [`http://127.0.0.1:${port}`], localChainPort: port };
}

const mailOf = ({ ALMONER_SMTP_URL: url, ALMONER_MAIL_FROM: from }: Raw) =>
  url === undefined || from === undefined ? null : { url, from };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The bucket that follows the releases, and how to write to it. For values not set here, the variables of the AWS tools
 * and Bun count. Throws BadSetting when a bucket or CloudFront lacks its keys.
 */
function s3Of(raw: Raw, env: Environment) {
  /** The first of these variables that is set. */
  const first = (...names: string[]) => names.map((name) => env[name]).find(Boolean);
  const endpoints = ["S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
  const regions = ["S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"];
  const keyIds = ["S3_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID"];
  const secrets = ["S3_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY"];
  const s3 = {
    /** s3://bucket/prefix; undefined when no bucket follows automatically. */
    url: raw.ALMONER_S3_URL,
    extensionless: raw.ALMONER_S3_EXTENSIONLESS === "on",
    /** Endpoint of a store other than Amazon's. */
    endpoint: raw.ALMONER_S3_ENDPOINT ?? first(...endpoints),
    region: raw.ALMONER_S3_REGION ?? first(...regions) ?? "us-east-1",
    accessKeyId: raw.ALMONER_S3_ACCESS_KEY_ID ?? first(...keyIds),
    secretAccessKey: raw.ALMONER_S3_SECRET_ACCESS_KEY ?? first(...secrets),
    sessionToken: raw.ALMONER_S3_SESSION_TOKEN ?? first("S3_SESSION_TOKEN", "AWS_SESSION_TOKEN"),
  };
  const wanting =
    s3.url !== undefined
      ? "ALMONER_S3_URL"
      : raw.ALMONER_PURGE_MODE === "cloudfront" && "ALMONER_PURGE_MODE";
  if (wanting && (s3.accessKeyId === undefined || s3.secretAccessKey === undefined)) {
    throw new BadSetting(
      `${wanting}: set ALMONER_S3_ACCESS_KEY_ID and ALMONER_S3_SECRET_ACCESS_KEY too.`,
    );
  }
  return s3;
}

function headerOf(line: string | undefined): Record<string, string> {
  const at = line?.indexOf(":") ?? -1;
  return line === undefined || at < 0 ? {} : { [line.slice(0, at)]: line.slice(at + 1).trim() };
}

const explain = ({ path, message }: z.core.$ZodIssue): string => {
  const setting = describeConfig().find(({ name }) => name === path[0]);
  const description = setting && `${setting.meaning} (default: ${setting.fallback})`;
  return `${String(path[0] ?? "")}: ${message}. It is: ${description ?? "a setting"}.`;
};

const words: Readonly<Record<string, { meaning: string; fallback?: string }>> = settingWords;

/** Every setting with its meaning and default. A test compares docs/settings.md with it. */
export const describeConfig = (): { name: string; meaning: string; fallback: string }[] =>
  Object.entries(settings.shape).map(([name, shape]) => {
    const { meaning = "", fallback } = words[name] ?? {};
    return { name, meaning, fallback: fallback ?? defaultOf(shape) };
  });

function defaultOf(shape: z.ZodType): string {
  const hasDefault = shape instanceof z.ZodDefault || shape instanceof z.ZodPrefault;
  const value = hasDefault ? String(shape.def.defaultValue) : "none";
  return /[a-z* ]/.test(value) && value !== "none" ? `\`${value}\`` : value;
}

/** Names that start like ours but are no settings: most likely typing errors. */
export const unknownSettings = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env).filter(
    (name) => name.startsWith("ALMONER_") && !(name in settings.shape) && !name.endsWith("_DATA"),
  );
