import { fill } from "#content/contract/base/fill.ts";
import type { OperatorHealth } from "#content/contract/operator.ts";
import type { Ready } from "#content/contract/stats.ts";
import words from "#content/editorial/checks.json";

/** What the probes of a running service, or of a command without one, tell of a directory. */
type Health = Omit<OperatorHealth, "warnings">;

/** What is looked at every few seconds to tell whether a service may be sent requests. `silent_s`: null when no publisher runs. */
export type Vitals = Pick<Health, "chain"> & {
  publication:
    | (Pick<NonNullable<Health["publication"]>, "release" | "held" | "oldest_waiting_s"> & {
        silent_s: number | null;
      })
    | null;
  free_bytes: number | null;
};

/** A part of the directory that is not as it has to be, and why, in words for an operator. */
export type Unready = { part: keyof Ready["parts"] | "service"; why: string };

const says = words.warnings;
/** What to do about each finding of `doctor`, by name of the check; the finding itself comes from the probe. Works while the service is down. */
export const { remedies } = words;

/** Said at the start and on the health page. */
export const untrustedProxy = says.untrusted_proxy;
/** Warning: this process counts limits alone, because the shared counters cannot be written. */
export const limitsAlone = says.limits_alone;

/** One question of "is it well?". */
type Check = {
  name: string;
  /** Whether it wakes somebody or waits until the morning. */
  severity: "page" | "ticket";
  /** The number that its alert compares with. */
  bound?: number;
  /** Of scripts/monitoring/alerts.yml; several checks may share one. */
  alert?: string;
  /** For an operator: what is wrong and what helps; nothing when all is well. */
  warnings?(health: Health): string[];
  /** Why no requests should be sent here; null when nothing is wrong. */
  unready?: { part: Unready["part"]; why(vitals: Vitals): string | null };
};

/** A change that waits for longer than this to be published is behind. */
const publishWaitMaxS = 60;
/** A publisher that gave no sign of life for this long hangs; it gives one every 5 s. */
const publisherSilentMaxS = 30;
/** Once a day, and some time to be made. */
const backupAgeMaxS = 25 * 3_600;
/** With less than this, writes are about to stop. */
export const freeBytesMin = 1_000_000_000;
/** With less than this, the log of the store may not grow any more: the service is not ready. */
const fullBelowBytes = 64_000_000;
const failedSignInsMax = 10;
const runwayDaysMin = 7;

const when = (isSo: boolean, text: string, values: Readonly<Record<string, unknown>> = {}) =>
  isSo ? [fill(text, values)] : [];

/** All that is asked about a directory, in the order in which warnings are told. */
export const checks: readonly Check[] = [
  {
    name: "publisher alive",
    severity: "page",
    alert: "AlmonerPublisherSilent",
    unready: { part: "publisher", why: ({ publication }) => publication && silence(publication) },
  },
  {
    name: "something published",
    severity: "page",
    alert: "AlmonerPublisherSilent",
    warnings: ({ publication }) => when(publication?.release === 0, says.nothing_published),
    unready: {
      part: "publisher",
      why: ({ publication }) => (publication?.release === 0 ? "nothing is published yet" : null),
    },
  },
  {
    name: "publishing not held",
    severity: "ticket",
    alert: "AlmonerPublishingHeld",
    // A rollback that holds publishing is an operator's decision: the service stays ready.
    warnings: ({ publication }) => when(publication?.held === true, says.held),
  },
  {
    name: "publishing keeps up",
    severity: "page",
    alert: "AlmonerPublisherSilent",
    warnings: ({ publication }) => {
      const waitedS = waitingS(publication);
      return when(waitedS > publishWaitMaxS, says.behind, { span: spanOf(waitedS) });
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
  },
  {
    name: "pages render",
    severity: "ticket",
    alert: "AlmonerRenderFailures",
    warnings: ({ publication }) =>
      when((publication?.failures ?? 0) > 0, says.failures, { ...publication }),
  },
  {
    name: "node named",
    severity: "ticket",
    // A directory may run without gifts: the service is ready all the same.
    warnings: ({ chain }) => when(chain?.nodes === 0, says.no_node),
  },
  {
    name: "chain",
    severity: "page",
    alert: "AlmonerChainAway",
    warnings: ({ chain }) =>
      when(isSilent(chain), says.no_answer, { why: chain?.why ?? "no reason given" }),
    unready: {
      part: "chain",
      why: ({ chain }) => (isSilent(chain) ? `the chain does not answer: ${chain?.why}` : null),
    },
  },
  {
    name: "nodes agree",
    severity: "page",
    alert: "AlmonerNodesDisagree",
    warnings: ({ chain }) =>
      chain === null || chain.nodes === 0
        ? []
        : when(chain.disagreements > 0, says.disagreements, chain),
  },
  {
    name: "sponsor pays",
    severity: "ticket",
    warnings: ({ sponsor }) =>
      sponsor === null || sponsor.refuses === null
        ? []
        : [fill(says[`sponsor_${sponsor.refuses}`], sponsor)],
  },
  {
    name: "sponsor lasts",
    severity: "ticket",
    bound: runwayDaysMin,
    alert: "AlmonerSponsorLow",
    warnings: ({ sponsor }) =>
      sponsor === null || sponsor.refuses !== null || sponsor.runway_days === null
        ? []
        : when(sponsor.runway_days < runwayDaysMin, says.sponsor_runway, sponsor),
  },
  {
    name: "gifts stay",
    severity: "page",
    alert: "AlmonerGiftsVoided",
    warnings: ({ donations }) => when(donations.voided > 0, says.voided, donations),
  },
  {
    name: "gifts become final",
    severity: "ticket",
    warnings: ({ donations }) => when(donations.unsettled > 0, says.unsettled, donations),
  },
  {
    name: "registers fetched",
    severity: "ticket",
    alert: "AlmonerRegisterFetch",
    warnings: ({ registers }) =>
      registers.flatMap(({ fetched_at, ...register }) =>
        when(register.problem !== null, says.register, {
          ...register,
          day: fetched_at.slice(0, 10),
        }),
      ),
  },
  {
    name: "backup made",
    severity: "ticket",
    bound: backupAgeMaxS,
    alert: "AlmonerBackupOld",
    warnings: ({ backup, backup_problem }) => {
      if (backup_problem !== null) return [fill(says.backup_failed, { backup_problem })];
      if (backup === null) return [says.no_backup];
      return when(backup.age_s > backupAgeMaxS, says.backup_old, { span: spanOf(backup.age_s) });
    },
  },
  {
    name: "disk",
    severity: "page",
    bound: freeBytesMin,
    alert: "AlmonerDiskFull",
    warnings: ({ store: { free_bytes } }) =>
      free_bytes === null
        ? []
        : when(free_bytes < freeBytesMin, says.disk, { mb: megabytes(free_bytes) }),
    unready: {
      part: "store",
      why: ({ free_bytes }) =>
        free_bytes !== null && free_bytes < fullBelowBytes
          ? `the disk is full: ${megabytes(free_bytes)} MB are left`
          : null,
    },
  },
  {
    name: "room for writes",
    severity: "ticket",
    warnings: ({ refused: { requests, hours } }) =>
      when((requests["stored"] ?? 0) > 0, says.quota, { ...requests, hours }),
  },
  {
    name: "no tokens guessed",
    severity: "ticket",
    warnings: ({ access }) =>
      when(access.failed_sign_ins >= failedSignInsMax, says.sign_ins, access),
  },
  {
    name: "proxies named",
    severity: "ticket",
    warnings: ({ access }) => when(access.untrusted_proxy_requests > 0, untrustedProxy),
  },
  { name: "service", severity: "page" },
  { name: "owner", severity: "page" },
  { name: "rights", severity: "ticket" },
  { name: "store", severity: "page" },
  { name: "upgrade", severity: "ticket" },
  { name: "schema", severity: "page" },
  { name: "audit log", severity: "page" },
  { name: "signing key", severity: "page" },
  { name: "secrets", severity: "ticket" },
  { name: "manifest", severity: "ticket" },
  { name: "small files", severity: "ticket" },
  { name: "local chain", severity: "ticket" },
  { name: "compiled site", severity: "ticket" },
  { name: "published files", severity: "ticket" },
  { name: "backups", severity: "ticket" },
  { name: "clock", severity: "ticket" },
];

/** What of a directory's health needs an operator, in sentences; empty when all is well. */
export const healthWarnings = (health: Health): string[] =>
  checks.flatMap((check) => check.warnings?.(health) ?? []);

/** Why a service should be sent no requests: of each part the first reason. */
export function unreadyParts(vitals: Vitals): Unready[] {
  const reasons = checks.flatMap(({ unready }): Unready[] => {
    const why = unready?.why(vitals) ?? null;
    return unready === undefined || why === null ? [] : [{ part: unready.part, why }];
  });
  return reasons.filter(({ part }, at) => reasons.findIndex((first) => first.part === part) === at);
}

function silence({ silent_s }: NonNullable<Vitals["publication"]>): string | null {
  if (silent_s === null) return "the publisher does not run";
  return silent_s > publisherSilentMaxS
    ? `the publisher has given no sign of life for ${silent_s} s`
    : null;
}

/** How long the oldest change has waited; 0 while an operator holds publishing. */
const waitingS = (publication: Health["publication"] | Vitals["publication"]): number =>
  publication === null || publication.held ? 0 : (publication.oldest_waiting_s ?? 0);

const isSilent = (chain: Health["chain"]): boolean =>
  chain !== null && chain.nodes > 0 && !chain.answers;

const megabytes = (bytes: number): number => Math.floor(bytes / 1e6);

/** "5 minutes", "3 hours", "2 days": rounded down, as a person would say it. */
function spanOf(seconds: number): string {
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds >= 7_200) return `${Math.floor(seconds / 3_600)} hours`;
  const minutes = Math.floor(seconds / 60);
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
