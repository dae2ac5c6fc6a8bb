import { z } from "zod";
import { donationNetworks } from "#content/contract/transfer.ts";
import {
  described,
  anyText,
  matching,
  whole,
  usdc,
  choice,
  contact,
  schedule,
  origin,
  urls,
  bearerToken,
  operators,
} from "./shapes.ts";

/** Every environment variable that the project reads. A new setting is one line here and one in ../config.ts. */
export const settings = z
  .object({
    ALMONER_DATA_DIR: described(
      "folder of the store, the releases and the generated keys",
      z.string().default(".almoner"),
      "`.almoner` in the working folder",
    ),
    ALMONER_PUBLIC_DIR: described(
      "folder of the published files, for web servers that run as another user: the data folder is closed to them",
      anyText,
      "`public` in the data folder",
    ),
    ALMONER_DATABASE_URL: described(
      "where the store is: a `file:`, `http(s):` or `libsql:` URL",
      matching(/^(file:|https?:\/\/|libsql:\/\/)./, "a file:, http(s): or libsql: URL"),
      "a file in the data folder",
    ),
    ALMONER_DATABASE_TOKEN: described("token of the database server", anyText),
    ALMONER_PORT: described(
      "port on which the service listens; 0 takes a free one",
      whole(0, 65_535, 8080),
    ),
    ALMONER_HOST: described(
      "address on which the service listens",
      z.string().default("127.0.0.1"),
    ),
    ALMONER_DRAIN_S: described(
      "seconds for which a service that is stopped still answers, not ready, and has clients close their connections: as long as a load balancer takes to see it, so that none is reset",
      whole(0, 3, 0),
    ),
    ALMONER_BASE_URL: described(
      "origin in absolute URLs; an input of the build",
      origin.optional(),
      "`http://localhost:<port>`",
    ),
    ALMONER_CONTACT: described(
      "how people reach the operator, on the page /about: a mailto: or https: URL",
      contact,
      "none: the page says so",
    ),
    ALMONER_SECURITY_CONTACT: described(
      "where to report a vulnerability, in security.txt: a mailto: or https: URL",
      contact,
      "`mailto:security@` and the host of the base URL",
    ),
    ALMONER_READS_PER_MINUTE: described(
      "service reads that one client may make in a minute; 0 for no limit",
      whole(0, 100_000_000, 600),
    ),
    ALMONER_STORED_MB_PER_DAY: described(
      "megabytes that agents may store in a day, and organisations and senders of corrections as many again each, a tenth of it from one network (/24 or /48); 0 for no limit",
      whole(0, 1_000_000, 100),
    ),
    ALMONER_TRUSTED_HOPS: described(
      "proxies in front whose X-Forwarded-For is trusted",
      whole(0, 16, 0),
    ),
    ALMONER_NETWORK: described(
      "network on which donations are made: `local`, `solana-devnet` or `solana`",
      choice(donationNetworks).default("local"),
    ),
    ALMONER_SOLANA_RPC_URLS: described(
      "RPC endpoints, comma-separated; required unless the network is `local`. With two, both have to agree before a gift is recorded, and while one is down or behind every gift is answered 503; with three, on different hosts, two suffice",
      urls.optional(),
      "the local chain",
    ),
    ALMONER_CHAIN_PORT: described(
      "port of the local chain, which `bun start` runs when no RPC endpoints are set; 0 takes a free one",
      whole(0, 65_535, 8899),
      "8899, or a free one when that is taken",
    ),
    ALMONER_FEE_PAYER_KEY: described(
      "base58 key that sponsors network fees",
      matching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/, "a base58 secret key of 64 bytes"),
      "none: donors pay the fee; generated for `local` only",
    ),
    ALMONER_COMMITMENT: described(
      "when a transfer counts: `confirmed` or `finalized`",
      choice(["confirmed", "finalized"]).default("confirmed"),
    ),
    ALMONER_FINALIZED_ABOVE: described(
      "gifts of more than this, in USDC, count only when they are `finalized`, whatever ALMONER_COMMITMENT says",
      usdc.prefault("100"),
      "100",
    ),
    ALMONER_DONATION_WINDOW_S: described(
      "maximum age of a transfer that is proven without our memo, in seconds",
      whole(60, 604_800, 3_600),
    ),
    ALMONER_SPONSORED_MINIMUM: described(
      "smallest donation, in USDC, for which the sponsor pays the network fee",
      usdc.prefault("0.1"),
      "0.1",
    ),
    ALMONER_SPONSOR_LAMPORTS_PER_DAY: described(
      "lamports that the sponsor pays in fees in 24 hours, at about 10,000 a gift",
      whole(0, 999_999_999, 50_000_000),
    ),
    ALMONER_SPONSOR_LAMPORTS_PER_DONOR: described(
      "of them for gifts from one wallet",
      whole(0, 999_999_999, 200_000),
    ),
    ALMONER_SPONSOR_LAMPORTS_PER_NONPROFIT: described(
      "of them for gifts to one nonprofit",
      whole(0, 999_999_999, 10_000_000),
    ),
    ALMONER_ADMIN_TOKENS: described(
      "operators as `name:token`, comma-separated",
      operators.optional(),
      "one is generated, stored and printed once",
    ),
    ALMONER_SIGNING_KEY: described(
      "Ed25519 private key (PKCS#8, PEM or base64) of snapshots and receipts",
      anyText,
      "generated and stored on first start",
    ),
    ALMONER_CONSENSUS: described(
      "what counts as agreement: two `agents`, or two agents on two `networks`",
      choice(["agents", "networks"]).default("agents"),
    ),
    ALMONER_WALLET_HOLD_HOURS: described(
      "hours between the approval of a wallet that is not proven and the moment it takes effect",
      whole(1, 8_760, 72),
    ),
    ALMONER_WALLET_APPROVALS: described(
      "operators who must approve a request that sets a wallet: 1 or 2",
      choice(["1", "2"]).default("1"),
    ),
    ALMONER_CLAIM_CHECKS: described(
      "whether hosts that claims name are contacted when someone asks for it: `on` or `off`",
      choice(["on", "off"]).default("on"),
    ),
    ALMONER_CLAIM_RESOLVER: described(
      "name server for these checks: an IP address, with a port if it is not 53",
      matching(/^(?:[\d.]+(?::\d+)?|\[?[\da-f:]+\]?(?::\d+)?)$/i, "an IP address like 9.9.9.9:53"),
      "those of the system",
    ),
    ALMONER_CLAIM_PORTS: described(
      "ports for https and http of these checks; others than the default are for tests",
      z
        .string()
        .regex(/^\d{1,5},\d{1,5}$/, "send two ports like 443,80")
        .default("443,80"),
    ),
    ALMONER_CLAIM_ADDRESSES: described(
      "IP addresses that these checks may contact although they are not public, comma-separated; for tests",
      matching(/^[\da-f.:]+(?:,[\da-f.:]+)*$/i, "IP addresses, comma-separated"),
    ),
    ALMONER_SMTP_URL: described(
      "mail server that sends the links of claims: `smtp://` or `smtps://user:password@host:port`",
      matching(/^smtps?:\/\/./, "an smtp: or smtps: URL"),
      "none: no mail is sent",
    ),
    ALMONER_MAIL_FROM: described(
      "sender of these mails; required beside the mail server",
      matching(/^[^\r\n]*[^\s@]+@[^\s@]+$/, "an address like desk@almoner.example"),
    ),
    ALMONER_RECOMMENDATION_PHASE: described(
      "phase of recommendation governance: 1, 2 or 3",
      choice(["1", "2", "3"]).default("1"),
    ),
    ALMONER_RECOMMENDATION_LOG_DAYS: described(
      "days for which calls to recommend, and the visits that followed, are kept",
      whole(1, 3_650, 90),
    ),
    ALMONER_PUBLISH_WAIT_MS: described(
      "how long a write waits for its change to be published, in milliseconds",
      whole(0, 30_000, 1_000),
    ),
    ALMONER_RELEASES_KEPT: described(
      "releases kept for a rollback; a change makes up to four: profile, lists, feed, search",
      whole(1, 100_000, 200),
    ),
    ALMONER_LIST_VALID_DAYS: described(
      "days after which mirrors refuse the signed list when no newer one came; more where you publish by hand",
      whole(2, 90, 7),
    ),
    ALMONER_IMPORT_SCHEDULE: described(
      "cron expression (UTC) at which registers are fetched and imported again that were fetched once by `bun run import … --fetch`; monthly is as often as they are published; `off` for none",
      schedule.default("off"),
    ),
    ALMONER_REGISTER_ORIGIN: described(
      "origin that registers are fetched from instead of their publishers' own, with the same paths: a mirror of yours",
      origin.optional(),
      "the publishers' own",
    ),
    ALMONER_BACKUP_SCHEDULE: described(
      "cron expression (UTC) at which `bun run backup` is run beside the publisher; `off` for none. It needs the room of the store twice",
      schedule.default("30 2 * * *"),
    ),
    ALMONER_BACKUP_TO: described(
      "where backups go: a folder, best on another disk, or `s3://bucket/prefix`",
      anyText,
      "`backups` in the data folder",
    ),
    ALMONER_BACKUP_PASSPHRASE: described(
      "seals the keys in backups; keep it elsewhere",
      z
        .string()
        .min(16, "send at least 16 characters, for example of `openssl rand -base64 24`")
        .optional(),
      "none: the keys are left out",
    ),
    ALMONER_UPKEEP_SCHEDULE: described(
      "cron expression (UTC) at which `bun run upkeep` frees room beside the publisher; `off` for none",
      schedule.default("0 4 * * *"),
    ),
    ALMONER_REBUILD_SCHEDULE: described(
      "cron expression (UTC) of the full rebuild; `off` for none",
      schedule.default("0 3 * * *"),
    ),
    ALMONER_PRECOMPRESS: described(
      "whether the exported folder also holds compressed files (`.br`, `.gz`) for web servers: `on` or `off`",
      choice(["on", "off"]).default("off"),
    ),
    ALMONER_SEARCH_INDEX: described(
      "whether to build a search index for people, in the background: `on` or `off`",
      choice(["on", "off"]).default("on"),
    ),
    ALMONER_PICTURES: described(
      "whether a full build draws the pictures that other sites show of a shared page: `on` or `off`",
      choice(["on", "off"]).default("on"),
    ),
    ALMONER_S3_URL: described(
      "bucket that every release is uploaded to: `s3://bucket/prefix`",
      matching(/^s3:\/\/[a-z0-9][a-z0-9.-]{1,62}(\/.*)?$/, "s3://bucket or s3://bucket/prefix"),
    ),
    ALMONER_S3_EXTENSIONLESS: described(
      "whether to store pages in the bucket also under keys without an extension: `on` or `off`",
      choice(["on", "off"]).default("off"),
    ),
    ALMONER_S3_ENDPOINT: described(
      "origin of an S3-compatible store",
      origin.optional(),
      "`S3_ENDPOINT`, `AWS_ENDPOINT_URL`; or Amazon's",
    ),
    ALMONER_S3_REGION: described(
      "region of the bucket",
      matching(/^[\w-]{1,64}$/, "a name like eu-north-1"),
      "`S3_REGION`, `AWS_REGION`; or us-east-1",
    ),
    ALMONER_S3_ACCESS_KEY_ID: described(
      "access key that may write to the bucket",
      anyText,
      "`S3_ACCESS_KEY_ID` or `AWS_…`",
    ),
    ALMONER_S3_SECRET_ACCESS_KEY: described(
      "secret of that key",
      anyText,
      "`S3_SECRET_ACCESS_KEY` or `AWS_…`",
    ),
    ALMONER_S3_SESSION_TOKEN: described(
      "token of a temporary key",
      anyText,
      "`S3_SESSION_TOKEN` or `AWS_…`",
    ),
    ALMONER_PURGE_URLS: described(
      "caches to purge after each release, comma-separated",
      urls.optional(),
    ),
    ALMONER_PURGE_MODE: described(
      "how caches are purged: by `url`, or by surrogate key (`xkey`, `xkey-soft`)",
      choice(["url", "xkey", "xkey-soft"]).default("url"),
    ),
    ALMONER_PURGE_HEADER: described(
      "header sent with each PURGE, for caches that want a key",
      matching(/^[\w-]{1,64}: ?[\x20-\x7e]+$/, "a header like `Fastly-Key: secret`"),
    ),
    ALMONER_LOG_LEVEL: described(
      "what is logged to stderr: `silent`, `error`, `warn`, `info`, `debug` (requests and searches, too)",
      choice(["silent", "error", "warn", "info", "debug"]).default("info"),
    ),
    ALMONER_LOG_FORMAT: described(
      "how it is logged: one `json` object a line, or `plain` words",
      choice(["json", "plain"]).optional(),
      "`plain` on a terminal, `json` elsewhere",
    ),
    ALMONER_METRICS_TOKEN: described(
      "bearer token for `/metrics`",
      bearerToken.optional(),
      "none: `/metrics` answers this machine alone",
    ),
  })
  .superRefine((all, context) => {
    const names = new Set(all.ALMONER_ADMIN_TOKENS?.map(({ name }) => name));
    if (all.ALMONER_WALLET_APPROVALS === "2" && names.size < 2) {
      context.addIssue({
        code: "custom",
        path: ["ALMONER_WALLET_APPROVALS"],
        message: "name two operators in ALMONER_ADMIN_TOKENS, or send 1",
      });
    }
    if ((all.ALMONER_SMTP_URL === undefined) !== (all.ALMONER_MAIL_FROM === undefined)) {
      context.addIssue({
        code: "custom",
        path: ["ALMONER_MAIL_FROM"],
        message: "set ALMONER_SMTP_URL and ALMONER_MAIL_FROM, or neither",
      });
    }
    if (all.ALMONER_NETWORK === "local" || all.ALMONER_SOLANA_RPC_URLS !== undefined) return;
    context.addIssue({
      code: "custom",
      path: ["ALMONER_SOLANA_RPC_URLS"],
      message: `send at least one RPC URL for ${all.ALMONER_NETWORK}`,
    });
  });
