import { fill } from "#content/contract/base/fill.ts";
import type { OperatorHealth } from "#content/contract/operator.ts";
import says from "#content/editorial/health-warnings.json";

/** A change that waits for longer than this to be published is behind. */
export const publishWaitMaxS = 60;
/** A publisher that gave no sign of life for this long hangs; it gives one every 5 s. */
export const publisherSilentMaxS = 30;
/** Once a day, and some time to be made. */
const backupAgeMaxS = 25 * 3_600;
/** With less than this, writes are about to stop. */
export const freeBytesMin = 1_000_000_000;
/** With less than this, the log of the store may not grow any more: the service is not ready. */
export const fullBelowBytes = 64_000_000;

const failedSignInsMax = 10;
const runwayDaysMin = 7;

/** Said at the start and on the health page. */
export const untrustedProxy = says.untrusted_proxy;
/** Of limits that this process cannot share at present. */
export const limitsAlone = says.limits_alone;

type Health = Omit<OperatorHealth, "warnings">;

const when = (isSo: boolean, text: string, values: Readonly<Record<string, unknown>> = {}) =>
  isSo ? [fill(text, values)] : [];

/** What of a directory's health needs an operator, in sentences; empty when all is well. */
export const healthWarnings = (health: Health): string[] =>
  [
    publicationWarnings,
    chainWarnings,
    sponsorWarnings,
    donationWarnings,
    registerWarnings,
    backupWarnings,
    diskWarnings,
    quotaWarnings,
    accessWarnings,
  ].flatMap((warningsOf) => warningsOf(health));

function publicationWarnings({ publication }: Health): string[] {
  if (publication === null) return [];
  const { release, held, oldest_waiting_s, failures } = publication;
  const waitedS = oldest_waiting_s ?? 0;
  return [
    ...when(release === 0, says.nothing_published),
    ...when(held, says.held),
    ...when(!held && waitedS > publishWaitMaxS, says.behind, { span: spanOf(waitedS) }),
    ...when(failures > 0, says.failures, { failures }),
  ];
}

function chainWarnings({ chain }: Health): string[] {
  if (chain === null) return [];
  const { answers, why, disagreements, nodes } = chain;
  if (nodes === 0) return [says.no_node];
  return [
    ...when(!answers, says.no_answer, { why: why ?? "no reason given" }),
    ...when(disagreements > 0, says.disagreements, { disagreements }),
  ];
}

function sponsorWarnings({ sponsor }: Health): string[] {
  if (sponsor === null) return [];
  const { refuses, runway_days } = sponsor;
  if (refuses !== null) return [fill(says[`sponsor_${refuses}`], sponsor)];
  return when((runway_days ?? runwayDaysMin) < runwayDaysMin, says.sponsor_runway, sponsor);
}

const donationWarnings = ({ donations }: Health): string[] => [
  ...when(donations.voided > 0, says.voided, donations),
  ...when(donations.unsettled > 0, says.unsettled, donations),
];

const registerWarnings = ({ registers }: Health): string[] =>
  registers.flatMap(({ fetched_at, ...one }) =>
    when(one.problem !== null, says.register, { ...one, day: fetched_at.slice(0, 10) }),
  );

function backupWarnings({ backup, backup_problem }: Health): string[] {
  if (backup_problem !== null) return [fill(says.backup_failed, { backup_problem })];
  if (backup === null) return [says.no_backup];
  return when(backup.age_s > backupAgeMaxS, says.backup_old, { span: spanOf(backup.age_s) });
}

const diskWarnings = ({ store: { free_bytes } }: Health): string[] =>
  free_bytes === null
    ? []
    : when(free_bytes < freeBytesMin, says.disk, { mb: Math.floor(free_bytes / 1e6) });

const quotaWarnings = ({ refused: { requests, hours } }: Health): string[] =>
  when((requests["stored"] ?? 0) > 0, says.quota, { ...requests, hours });

const accessWarnings = ({ access }: Health): string[] => [
  ...when(access.failed_sign_ins >= failedSignInsMax, says.sign_ins, access),
  ...when(access.untrusted_proxy_requests > 0, untrustedProxy),
];

/** "5 minutes", "3 hours", "2 days": rounded down, as a person would say it. */
function spanOf(seconds: number): string {
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds >= 7_200) return `${Math.floor(seconds / 3_600)} hours`;
  return `${Math.floor(seconds / 60)} minutes`;
}
