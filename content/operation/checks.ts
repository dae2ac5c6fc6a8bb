import type { OperatorHealth } from "#content/contract/operator.ts";
import type { Ready } from "#content/contract/stats.ts";
import type helps from "#content/editorial/metrics.json";

type Health = Omit<OperatorHealth, "warnings">;

/** What is known of a directory. No check complains about a fact that is absent. */
export type Facts = Partial<Omit<Health, "store">> & {
  store?: Partial<Health["store"]>;
  /** Why the store's files no longer accept writes. */
  misplaced?: string | null;
  /** Whether this process counts limits by itself, because the shared counters cannot be written. */
  limits_alone?: boolean;
  /** Seconds since the publisher's last heartbeat; null when none runs. */
  silent_s?: number | null;
  publisher_seen_ms?: number | null;
  publisher_bytes?: number | null;
  wal_bytes?: number | null;
  queues?: readonly { kind: string; waiting: number }[];
};

/** A part of the directory that is not ready, and why, in words for an operator. */
export type Unready = { part: keyof Ready["parts"] | "service"; why: string };

/** One number, or one for each value of a label; null and undefined are unknown and left out. */
export type GaugeValue = number | boolean | null | undefined | Readonly<Record<string, number>>;
export type GaugeName = keyof typeof helps;
type Gauges = Readonly<Partial<Record<GaugeName, (facts: Facts) => GaugeValue>>>;

/** One check of the directory's health. */
type Check = {
  /** Whether it wakes someone up or can wait until the morning. */
  severity: "page" | "ticket";
  /** The threshold of its alert. */
  bound?: number;
  /** The alert in scripts/monitoring/alerts.yml; several checks may share one. */
  alert?: string;
  /**
   * What is wrong, in sentences for an operator; nothing when all is well. Checks that only `doctor` makes word their
   * findings themselves.
   */
  findings?: (facts: Facts) => string | readonly string[] | false | null | undefined;
  /** What to do, for findings that do not say it. */
  remedy?: string;
  /** Why no requests should be sent here; null when nothing is wrong. */
  unready?: { part: Unready["part"]; why: (facts: Facts) => string | null };
  /** Its metrics, for the alert and the dashboard. */
  gauges?: Gauges;
};

/** The longest that a change may wait to be published. */
const publishWaitMaxS = 60;
/** A publisher without a heartbeat for this long hangs; it sends one every 5 s. */
const publisherSilentMaxS = 30;
/** A daily backup may take an hour. */
const backupAgeMaxS = 25 * 3_600;
/** Below this, writes will soon fail. */
const freeBytesMin = 1_000_000_000;
/** Below this, the store's log may be unable to grow: the service is not ready. */
const fullBelowBytes = 64_000_000;
const walBytesMax = 500_000_000;
const failedSignInsMax = 10;
/** More than an operator who mistypes would cause. */
const attackingSignIns = 20;
const waitingReviewsMax = 200;
const runwayDaysMin = 7;

/** Every check of a directory, in the order in which findings are reported. */
const list = {
  "store in place": {
    severity: "page",
    alert: "AlmonerStoreAway",
    findings: ({ misplaced }) => misplaced,
    gauges: {
      almoner_store_bytes: ({ store }) => store?.bytes,
      almoner_newest_change: ({ store }) => store?.newest_change,
    },
  },
  "limits shared": {
    severity: "ticket",
    findings: ({ limits_alone }) =>
      limits_alone === true &&
      "This service counts requests for itself, because what it shares the counts in cannot be written: the disk is full, or the database server is away or answers late. Until it can, clients may send as much to each service.",
  },
  "publisher alive": {
    severity: "page",
    alert: "AlmonerPublisherSilent",
    findings: ({ publication, silent_s }) => {
      const why = publication && silent_s !== undefined ? silence(silent_s) : null;
      return why && `Readers see nothing new: ${why}.`;
    },
    remedy: "Restart the publisher, or the service that starts it, and read its log.",
    unready: {
      part: "publisher",
      why: ({ publication, silent_s = null }) => (publication ? silence(silent_s) : null),
    },
    gauges: {
      almoner_publisher_seen_timestamp_seconds: ({ publisher_seen_ms = null }) =>
        publisher_seen_ms === null ? null : publisher_seen_ms / 1_000,
      almoner_publisher_resident_memory_bytes: ({ publisher_bytes }) => publisher_bytes,
    },
  },
  "something published": {
    severity: "page",
    alert: "AlmonerPublisherSilent",
    findings: ({ publication }) => publication?.release === 0 && "Nothing has been published yet.",
    unready: {
      part: "publisher",
      why: ({ publication }) => (publication?.release === 0 ? "nothing is published yet" : null),
    },
    gauges: { almoner_release: ({ publication }) => publication?.release },
  },
  "publishing not held": {
    severity: "ticket",
    alert: "AlmonerPublishingHeld",
    // Not `unready`: a rollback that holds publishing is an operator's decision.
    findings: ({ publication }) =>
      publication?.held === true &&
      "A rollback holds publishing: readers see nothing new until `bun run publish --resume`.",
    gauges: { almoner_publishing_held: ({ publication }) => publication?.held },
  },
  "publishing keeps up": {
    severity: "page",
    alert: "AlmonerPublisherSilent",
    findings: ({ publication }) => {
      const waitedS = waitingS(publication);
      return (
        waitedS > publishWaitMaxS &&
        `Publishing is behind: the oldest change has waited for ${spanOf(waitedS)}.`
      );
    },
    unready: {
      part: "publisher",
      why: ({ publication }) => {
        const waitedS = waitingS(publication);
        return waitedS > publishWaitMaxS
          ? `a change has waited for ${waitedS} s to be published`
          : null;
      },
    },
    gauges: {
      almoner_profiles_behind: ({ publication }) => publication?.profiles_behind,
      almoner_lists_behind: ({ publication }) => publication?.lists_behind,
      almoner_publication_lag_seconds: ({ publication }) =>
        publication && (publication.oldest_waiting_s ?? 0),
    },
  },
  "pages render": {
    severity: "ticket",
    alert: "AlmonerRenderFailures",
    findings: ({ publication }) =>
      (publication?.failures ?? 0) > 0 &&
      `${publication?.failures} pages could not be rendered; their older versions stay.`,
    gauges: { almoner_render_failures: ({ publication }) => publication?.failures },
  },
  "node named": {
    severity: "ticket",
    // Not `unready`: a directory may run without gifts.
    findings: ({ chain }) =>
      chain?.nodes === 0 &&
      "No node of the chain is named (ALMONER_SOLANA_RPC_URLS), so no one can give: who asks what to pay is answered 503.",
  },
  chain: {
    severity: "page",
    alert: "AlmonerChainAway",
    findings: ({ chain }) =>
      isSilent(chain) && `The chain does not answer: ${chain?.why ?? "no reason given"}.`,
    remedy:
      "Correct ALMONER_SOLANA_RPC_URLS and ALMONER_NETWORK, or wait for the node: gifts are answered 503 meanwhile.",
    unready: {
      part: "chain",
      why: ({ chain }) => (isSilent(chain) ? `the chain does not answer: ${chain?.why}` : null),
    },
    gauges: {
      almoner_rpc_up: ({ chain }) => (chain?.nodes === 0 ? undefined : chain?.answers),
      almoner_rpc_latency_seconds: ({ chain }) => chain && chain.took_ms / 1_000,
    },
  },
  "nodes agree": {
    severity: "page",
    alert: "AlmonerNodesDisagree",
    findings: ({ chain }) =>
      chain?.nodes !== 0 &&
      (chain?.disagreements ?? 0) > 0 &&
      `RPC nodes contradicted each other ${chain?.disagreements} times in the last 24 hours: one of them lies or is broken, and the log names them. Gifts wait until two agree.`,
    gauges: { almoner_rpc_disagreements: ({ chain }) => chain?.disagreements },
  },
  "sponsor pays": {
    severity: "ticket",
    findings: ({ sponsor }) =>
      sponsor?.refuses === "budget"
        ? "The sponsor pays no fees: its budget of 24 hours is used up (ALMONER_SPONSOR_LAMPORTS_PER_DAY). Donors are asked to pay their own."
        : sponsor?.refuses === "no_sol" &&
          `The sponsor pays no fees: it has too little SOL: send some to ${sponsor.address}. Donors are asked to pay their own.`,
    gauges: {
      almoner_sponsor_balance_lamports: ({ sponsor }) => sponsor?.balance_lamports,
      almoner_sponsor_spent_lamports: ({ sponsor }) => sponsor?.spent_lamports,
    },
  },
  "sponsor lasts": {
    severity: "ticket",
    bound: runwayDaysMin,
    alert: "AlmonerSponsorLow",
    findings: ({ sponsor }) =>
      sponsor?.refuses === null &&
      (sponsor.runway_days ?? runwayDaysMin) < runwayDaysMin &&
      `The sponsor's SOL lasts for ${sponsor.runway_days} more days: send some to ${sponsor.address}.`,
    gauges: { almoner_sponsor_runway_days: ({ sponsor }) => sponsor?.runway_days },
  },
  "gifts stay": {
    severity: "page",
    alert: "AlmonerGiftsVoided",
    findings: ({ donations }) =>
      (donations?.voided ?? 0) > 0 &&
      `${donations?.voided} recorded gifts vanished from the chain in the last 30 days and were voided. The newest: ${donations?.newest_voided}. Look at the RPC nodes that showed them.`,
    gauges: { almoner_donations_voided: ({ donations }) => donations?.voided },
  },
  "gifts become final": {
    severity: "ticket",
    findings: ({ donations }) =>
      (donations?.unsettled ?? 0) > 0 &&
      `${donations?.unsettled} recorded gifts are not final after an hour: the RPC nodes can neither prove nor deny them. Name nodes that keep old blocks.`,
  },
  "registers fetched": {
    severity: "ticket",
    alert: "AlmonerRegisterFetch",
    findings: ({ registers = [] }) =>
      failedFetches(registers).map(
        ({ register, fetched_at, problem }) =>
          `Fetching ${register} failed on ${fetched_at.slice(0, 10)}: ${problem}. \`bun run import ${register} --fetch\` tries again.`,
      ),
    gauges: {
      almoner_register_fetches_failed: ({ registers }) =>
        registers && failedFetches(registers).length,
    },
  },
  "backup made": {
    severity: "ticket",
    bound: backupAgeMaxS,
    alert: "AlmonerBackupOld",
    findings: ({ backup, backup_problem = null }) => {
      if (backup_problem !== null) return `The last backup failed: ${backup_problem}`;
      if (backup === null) {
        return "No backup has been recorded. `bun run backup` makes one; with a database server make one there, or `bun run export --all`, and touch `last-backup` in the data folder.";
      }
      const ageS = backup?.age_s ?? 0;
      return ageS > backupAgeMaxS && `The last backup is ${spanOf(ageS)} old.`;
    },
    gauges: { almoner_backup_age_seconds: ({ backup }) => backup?.age_s },
  },
  disk: {
    severity: "page",
    bound: freeBytesMin,
    alert: "AlmonerDiskFull",
    findings: ({ store }) => {
      const free = store?.free_bytes ?? freeBytesMin;
      return free < freeBytesMin && `The disk has only ${megabytes(free)} MB left.`;
    },
    remedy: "Free some space: writes stop when there is none.",
    unready: {
      part: "store",
      why: ({ store }) => {
        const free = store?.free_bytes ?? fullBelowBytes;
        return free < fullBelowBytes ? `the disk is full: ${megabytes(free)} MB are left` : null;
      },
    },
    gauges: { almoner_disk_free_bytes: ({ store }) => store?.free_bytes },
  },
  "log of the store": {
    severity: "ticket",
    bound: walBytesMax,
    alert: "AlmonerLogGrows",
    gauges: { almoner_store_wal_bytes: ({ wal_bytes }) => wal_bytes },
  },
  "room for writes": {
    severity: "ticket",
    findings: ({ refused }) =>
      (refused?.requests["stored"] ?? 0) > 0 &&
      `${refused?.requests["stored"]} writes were refused in ${refused?.hours} hours because the day's room was used up (ALMONER_STORED_MB_PER_DAY).`,
  },
  "no tokens guessed": {
    severity: "ticket",
    bound: attackingSignIns,
    alert: "AlmonerSignIns",
    findings: ({ access }) =>
      (access?.failed_sign_ins ?? 0) >= failedSignInsMax &&
      `${access?.failed_sign_ins} sign-ins of operators failed in the last ${access?.hours} hours. The service's log and the audit log tell more; replace a token that others may know.`,
    gauges: { almoner_failed_sign_ins: ({ access }) => access?.failed_sign_ins },
  },
  "proxies named": {
    severity: "ticket",
    findings: ({ access }) =>
      (access?.untrusted_proxy_requests ?? 0) > 0 &&
      "Requests carry X-Forwarded-For, and ALMONER_TRUSTED_HOPS is 0. If there is a proxy in front, all its readers count as one client, also for limits and lockouts: set the number of proxies.",
  },
  "reviews decided": {
    severity: "ticket",
    bound: waitingReviewsMax,
    alert: "AlmonerReviewsWait",
    gauges: {
      almoner_queue_waiting: ({ queues = [] }) =>
        Object.fromEntries(queues.map(({ kind, waiting }) => [kind, waiting])),
    },
  },
  service: { severity: "page", remedy: "docs/watching.md says for each what to do." },
  owner: {
    severity: "page",
    remedy:
      "Give the whole folder to the user of the service, with chown -R, and run commands as that user.",
  },
  rights: {
    severity: "ticket",
    remedy: "Leave it to the user of the service alone: chmod go-rwx.",
  },
  store: {
    severity: "page",
    remedy: "Stop the service, keep a copy of the file, and restore a backup: bun run restore.",
  },
  upgrade: {
    severity: "ticket",
    remedy:
      "Audit log, keys and clock are not looked at before. `bun run upgrade --check` says how long it takes; the next start does it.",
  },
  schema: {
    severity: "page",
    remedy:
      "doctor --repair makes an index again. For anything else, stop the service and restore a backup: bun run restore.",
  },
  "audit log": {
    severity: "page",
    remedy: "bun run review audit --verify says more; compare with a backup.",
  },
  "signing key": {
    severity: "page",
    remedy:
      "Put the old key back, from a backup. If it is lost, or the change is meant, `bun run rotate-key` takes another one into use.",
  },
  secrets: {
    severity: "ticket",
    remedy:
      "Put it back from a backup; or remove it and restart: a new one is made, and what it opened is void.",
  },
  manifest: {
    severity: "ticket",
    remedy: "The next start makes it again from the store; releases before are gone.",
  },
  "small files": {
    severity: "ticket",
    remedy: "The next start makes it again; with limits.db the counts of a day are gone.",
  },
  "local chain": {
    severity: "ticket",
    remedy:
      "Remove the folder chain: the local chain begins again, without the worthless gifts of before.",
  },
  "compiled site": {
    severity: "ticket",
    remedy: "Remove it: the next start compiles it again.",
  },
  "published files": { severity: "ticket", remedy: "bun run publish --full writes it again." },
  backups: {
    severity: "ticket",
    remedy: "bun run backup makes another one at once. The older ones stay.",
  },
  clock: {
    severity: "ticket",
    remedy: "Set the clock and let it be kept right: timedatectl set-ntp true.",
  },
} satisfies Record<string, Check>;

export type CheckName = keyof typeof list;
export const checks: Readonly<Record<CheckName, Check>> = list;
const checkNames = Object.keys(list) as CheckName[];

/** What to do about a finding of a check. */
export const remedyOf = (name: CheckName): string => checks[name].remedy ?? "";

export const findingsOf = (name: CheckName, facts: Facts): string[] =>
  [checks[name].findings?.(facts)].flat().filter((finding) => typeof finding === "string");

/** Everything that needs an operator, in sentences with remedies; empty when all is well. */
export const healthWarnings = (facts: Facts): string[] =>
  checkNames.flatMap((name) =>
    findingsOf(name, facts).map((finding) => `${finding} ${remedyOf(name)}`.trimEnd()),
  );

/** Why no requests should be sent to a service: the first reason of each part. */
export function unreadyParts(facts: Facts): Unready[] {
  const reasons = Object.values(checks).flatMap(({ unready }): Unready[] => {
    const why = unready?.why(facts) ?? null;
    return unready === undefined || why === null ? [] : [{ part: unready.part, why }];
  });
  return reasons.filter(({ part }, at) => reasons.findIndex((first) => first.part === part) === at);
}

/** The metrics of all checks. */
export const gauges: Gauges = Object.assign({}, ...Object.values(checks).map((c) => c.gauges));

function silence(silentS: number | null): string | null {
  if (silentS === null) return "the publisher does not run";
  return silentS > publisherSilentMaxS
    ? `the publisher has given no sign of life for ${silentS} s`
    : null;
}

/** How long the oldest change has waited, in seconds; 0 while an operator holds publishing. */
const waitingS = (publication: Facts["publication"]): number =>
  publication && !publication.held ? (publication.oldest_waiting_s ?? 0) : 0;

const isSilent = (chain: Facts["chain"]): boolean =>
  chain ? chain.nodes > 0 && !chain.answers : false;

const failedFetches = (registers: Health["registers"]) =>
  registers.filter(({ problem }) => problem !== null);

const megabytes = (bytes: number): number => Math.floor(bytes / 1e6);

/** A duration in words, rounded down: "5 minutes", "3 hours", "2 days". */
function spanOf(seconds: number): string {
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds >= 7_200) return `${Math.floor(seconds / 3_600)} hours`;
  const minutes = Math.floor(seconds / 60);
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
