import { z } from "zod";
import { donationNetworks } from "#content/contract/transfer.ts";
import {
  bearerToken,
  choice,
  contact,
  givingLinks,
  matching,
  oneOf,
  onOrOff,
  operators,
  origin,
  schedule,
  anyText,
  urls,
  usdc,
  whole,
} from "./shapes.ts";

/**
 * Every environment variable that the project reads: its shape and its meaning, and as `fallback` what stands in its place
 * where its own default does not say it. A new setting is one line here and one in ../config.ts.
 */
export const settings = z
  .object({
    ALMONER_DATA_DIR: z
      .string()
      .default(".almoner")
      .describe("folder of the store, the releases and the generated keys")
      .meta({ fallback: "`.almoner` in the working folder" }),
    ALMONER_PUBLIC_DIR: anyText
      .describe(
        "folder of the published files, for web servers that run as another user: the data folder is closed to them",
      )
      .meta({ fallback: "`public` in the data folder" }),
    ALMONER_DATABASE_URL: matching(
      /^(file:|https?:\/\/|libsql:\/\/)./,
      "a file:, http(s): or libsql: URL",
    )
      .describe("where the store is: a `file:`, `http(s):` or `libsql:` URL")
      .meta({ fallback: "a file in the data folder" }),
    ALMONER_DATABASE_TOKEN: anyText.describe("token of the database server"),
    ALMONER_PORT: whole(0, 65_535, 8080).describe(
      "port on which the service listens; 0 takes a free one",
    ),
    ALMONER_HOST: z.string().default("127.0.0.1").describe("address on which the service listens"),
    ALMONER_DRAIN_S: whole(0, 3, 0).describe(
      "seconds for which a service that is stopped still answers, not ready, and has clients close their connections: as long as a load balancer takes to see it, so that none is reset",
    ),
    ALMONER_BASE_URL: origin
      .optional()
      .describe("origin in absolute URLs; an input of the build")
      .meta({ fallback: "`http://localhost:<port>`" }),
    ALMONER_CONTACT: contact
      .describe("how people reach the operator, on the page /about: a mailto: or https: URL")
      .meta({ fallback: "none: the page says so" }),
    ALMONER_OPERATOR: anyText
      .describe("who runs the directory, on the page /about: a person or an organisation")
      .meta({ fallback: "none: the page says so" }),
    ALMONER_OPERATOR_COUNTRY: matching(/^[A-Z]{2}$/, "a country's two letters, like GB")
      .describe("in which country, by its two letters (ISO 3166)")
      .meta({ fallback: "none: the page says so" }),
    ALMONER_SECURITY_CONTACT: contact
      .describe("where to report a vulnerability, in security.txt: a mailto: or https: URL")
      .meta({ fallback: "`mailto:security@` and the host of the base URL" }),
    ALMONER_GIVING_LINKS: givingLinks.describe(
      'services that take gifts by org-id: JSON like `[{"scheme": "US-EIN", "label": "Example Giving", "url": "https://giving.example/us/{number}"}]`, where `currency`, `fee` and `tax_receipt` may be added',
    ),
    ALMONER_READS_PER_MINUTE: whole(0, 100_000_000, 600).describe(
      "service reads that one client may make in a minute; 0 for no limit",
    ),
    ALMONER_STORED_MB_PER_DAY: whole(0, 1_000_000, 100).describe(
      "megabytes that agents may store in a day, and organisations and senders of corrections as many again each, a tenth of it from one network (/24 or /48); 0 for no limit",
    ),
    ALMONER_TRUSTED_HOPS: whole(0, 16, 0).describe(
      "proxies in front whose X-Forwarded-For is trusted",
    ),
    ALMONER_NETWORK: choice(donationNetworks, "local").describe(
      "network on which donations are made: `local`, `solana-devnet` or `solana`",
    ),
    ALMONER_SOLANA_RPC_URLS: urls
      .optional()
      .describe(
        "RPC endpoints, comma-separated; required unless the network is `local`. With two, both have to agree before a gift is recorded, and while one is down or behind every gift is answered 503; with three, on different hosts, two suffice",
      )
      .meta({ fallback: "the local chain" }),
    ALMONER_CHAIN_PORT: whole(0, 65_535, 8899)
      .describe(
        "port of the local chain, which `bun start` runs when no RPC endpoints are set; 0 takes a free one",
      )
      .meta({ fallback: "8899, or a free one when that is taken" }),
    ALMONER_FEE_PAYER_KEY: matching(
      /^[1-9A-HJ-NP-Za-km-z]{80,90}$/,
      "a base58 secret key of 64 bytes",
    )
      .describe("base58 key that sponsors network fees")
      .meta({ fallback: "none: donors pay the fee; generated for `local` only" }),
    ALMONER_COMMITMENT: choice(["confirmed", "finalized"], "confirmed").describe(
      "when a transfer counts: `confirmed` or `finalized`",
    ),
    ALMONER_FINALIZED_ABOVE: usdc("100").describe(
      "gifts of more than this, in USDC, count only when they are `finalized`, whatever ALMONER_COMMITMENT says",
    ),
    ALMONER_DONATION_WINDOW_S: whole(60, 604_800, 3_600).describe(
      "maximum age of a transfer that is proven without our memo, in seconds",
    ),
    ALMONER_SPONSORED_MINIMUM: usdc("0.1").describe(
      "smallest donation, in USDC, for which the sponsor pays the network fee",
    ),
    ALMONER_SPONSOR_LAMPORTS_PER_DAY: whole(0, 999_999_999, 50_000_000).describe(
      "lamports that the sponsor pays in fees in 24 hours, at about 10,000 a gift",
    ),
    ALMONER_SPONSOR_LAMPORTS_PER_DONOR: whole(0, 999_999_999, 200_000).describe(
      "of them for gifts from one wallet",
    ),
    ALMONER_SPONSOR_LAMPORTS_PER_NONPROFIT: whole(0, 999_999_999, 10_000_000).describe(
      "of them for gifts to one nonprofit",
    ),
    ALMONER_ADMIN_TOKENS: operators
      .optional()
      .describe("operators as `name:token`, comma-separated")
      .meta({ fallback: "one is generated, stored and printed once" }),
    ALMONER_SIGNING_KEY: anyText
      .describe("Ed25519 private key (PKCS#8, PEM or base64) of snapshots and receipts")
      .meta({ fallback: "generated and stored on first start" }),
    ALMONER_CONSENSUS: choice(["agents", "networks"], "agents").describe(
      "what counts as agreement: two `agents`, or two agents on two `networks`",
    ),
    ALMONER_WALLET_HOLD_HOURS: whole(1, 8_760, 72).describe(
      "hours between the approval of a wallet that is not proven and the moment it takes effect",
    ),
    ALMONER_WALLET_APPROVALS: choice(["1", "2"], "1").describe(
      "operators who must approve a request that sets a wallet: 1 or 2",
    ),
    ALMONER_CLAIM_CHECKS: onOrOff("on").describe(
      "whether hosts that claims name are contacted when someone asks for it: `on` or `off`",
    ),
    ALMONER_CLAIM_RESOLVER: matching(
      /^(?:[\d.]+(?::\d+)?|\[?[\da-f:]+\]?(?::\d+)?)$/i,
      "an IP address like 9.9.9.9:53",
    )
      .describe("name server for these checks: an IP address, with a port if it is not 53")
      .meta({ fallback: "those of the system" }),
    ALMONER_CLAIM_PORTS: z
      .string()
      .regex(/^\d{1,5},\d{1,5}$/, "send two ports like 443,80")
      .default("443,80")
      .describe("ports for https and http of these checks; others than the default are for tests"),
    ALMONER_CLAIM_ADDRESSES: matching(
      /^[\da-f.:]+(?:,[\da-f.:]+)*$/i,
      "IP addresses, comma-separated",
    ).describe(
      "IP addresses that these checks may contact although they are not public, comma-separated; for tests",
    ),
    ALMONER_SMTP_URL: matching(/^smtps?:\/\/./, "an smtp: or smtps: URL")
      .describe(
        "mail server that sends claimants the links and the decisions of their requests: `smtp://` or `smtps://user:password@host:port`",
      )
      .meta({ fallback: "none: no mail is sent" }),
    ALMONER_MAIL_FROM: matching(
      /^[^\r\n]*[^\s@]+@[^\s@]+$/,
      "an address like desk@almoner.example",
    ).describe("sender of these mails; required beside the mail server"),
    ALMONER_RECOMMENDATION_PHASE: choice(["1", "2", "3"], "1").describe(
      "phase of recommendation governance: 1, 2 or 3",
    ),
    ALMONER_RECOMMENDATION_LOG_DAYS: whole(1, 3_650, 90).describe(
      "days for which calls to recommend, and the visits that followed, are kept",
    ),
    ALMONER_PUBLISH_WAIT_MS: whole(0, 30_000, 1_000).describe(
      "how long a write waits for its change to be published, in milliseconds",
    ),
    ALMONER_RELEASES_KEPT: whole(1, 100_000, 200).describe(
      "releases kept for a rollback; a change makes up to four: profile, lists, feed, search",
    ),
    ALMONER_LIST_VALID_DAYS: whole(2, 90, 7).describe(
      "days after which mirrors refuse the signed list when no newer one came; more where you publish by hand",
    ),
    ALMONER_IMPORT_SCHEDULE: schedule("off").describe(
      "cron expression (UTC) at which registers are fetched and imported again that were fetched once by `bun run import … --fetch`; monthly is as often as they are published; `off` for none",
    ),
    ALMONER_REGISTER_ORIGIN: origin
      .optional()
      .describe(
        "origin that registers are fetched from instead of their publishers' own, with the same paths: a mirror of yours",
      )
      .meta({ fallback: "the publishers' own" }),
    ALMONER_BACKUP_SCHEDULE: schedule("30 2 * * *").describe(
      "cron expression (UTC) at which `bun run backup` is run beside the publisher; `off` for none. It needs the room of the store twice",
    ),
    ALMONER_BACKUP_TO: anyText
      .describe("where backups go: a folder, best on another disk, or `s3://bucket/prefix`")
      .meta({ fallback: "`backups` in the data folder" }),
    ALMONER_BACKUP_PASSPHRASE: z
      .string()
      .min(16, "send at least 16 characters, for example of `openssl rand -base64 24`")
      .optional()
      .describe("seals the keys in backups; keep it elsewhere")
      .meta({ fallback: "none: the keys are left out" }),
    ALMONER_UPKEEP_SCHEDULE: schedule("0 4 * * *").describe(
      "cron expression (UTC) at which `bun run upkeep` frees room beside the publisher; `off` for none",
    ),
    ALMONER_REBUILD_SCHEDULE: schedule("0 3 * * *").describe(
      "cron expression (UTC) of the full rebuild; `off` for none",
    ),
    ALMONER_PRECOMPRESS: onOrOff("off").describe(
      "whether the exported folder also holds compressed files (`.br`, `.gz`) for web servers: `on` or `off`",
    ),
    ALMONER_SEARCH_INDEX: onOrOff("on").describe(
      "whether to build a search index for people, in the background: `on` or `off`",
    ),
    ALMONER_PICTURES: onOrOff("on").describe(
      "whether a full build draws the pictures that other sites show of a shared page: `on` or `off`",
    ),
    ALMONER_S3_URL: matching(
      /^s3:\/\/[a-z0-9][a-z0-9.-]{1,62}(\/.*)?$/,
      "s3://bucket or s3://bucket/prefix",
    ).describe("bucket that every release is uploaded to: `s3://bucket/prefix`"),
    ALMONER_S3_EXTENSIONLESS: onOrOff("off").describe(
      "whether to store pages in the bucket also under keys without an extension: `on` or `off`",
    ),
    ALMONER_S3_ENDPOINT: origin
      .optional()
      .describe("origin of an S3-compatible store")
      .meta({ fallback: "`S3_ENDPOINT`, `AWS_ENDPOINT_URL`; or Amazon's" }),
    ALMONER_S3_REGION: matching(/^[\w-]{1,64}$/, "a name like eu-north-1")
      .describe("region of the bucket")
      .meta({ fallback: "`S3_REGION`, `AWS_REGION`; or us-east-1" }),
    ALMONER_S3_ACCESS_KEY_ID: anyText
      .describe("access key that may write to the bucket")
      .meta({ fallback: "`S3_ACCESS_KEY_ID` or `AWS_…`" }),
    ALMONER_S3_SECRET_ACCESS_KEY: anyText
      .describe("secret of that key")
      .meta({ fallback: "`S3_SECRET_ACCESS_KEY` or `AWS_…`" }),
    ALMONER_S3_SESSION_TOKEN: anyText
      .describe("token of a temporary key")
      .meta({ fallback: "`S3_SESSION_TOKEN` or `AWS_…`" }),
    ALMONER_PURGE_URLS: urls
      .optional()
      .describe("caches to purge after each release, comma-separated"),
    ALMONER_PURGE_MODE: choice(["url", "xkey", "xkey-soft"], "url").describe(
      "how caches are purged: by `url`, or by surrogate key (`xkey`, `xkey-soft`)",
    ),
    ALMONER_PURGE_HEADER: matching(
      /^[\w-]{1,64}: ?[\x20-\x7e]+$/,
      "a header like `Fastly-Key: secret`",
    ).describe("header sent with each PURGE, for caches that want a key"),
    ALMONER_LOG_LEVEL: choice(["silent", "error", "warn", "info", "debug"], "info").describe(
      "what is logged to stderr: `silent`, `error`, `warn`, `info`, `debug` (requests and searches, too)",
    ),
    ALMONER_LOG_FORMAT: oneOf(["json", "plain"])
      .optional()
      .describe("how it is logged: one `json` object a line, or `plain` words")
      .meta({ fallback: "`plain` on a terminal, `json` elsewhere" }),
    ALMONER_METRICS_TOKEN: bearerToken
      .optional()
      .describe("bearer token for `/metrics`")
      .meta({ fallback: "none: `/metrics` answers this machine alone" }),
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
