import type { OperatorHealth } from "#content/contract/operator.ts";

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

/** Said at the start and on the health page. */
export const untrustedProxy =
  "Requests carry X-Forwarded-For, and ALMONER_TRUSTED_HOPS is 0. If there is a proxy in front, all its readers count as one client, also for limits and lockouts: set the number of proxies.";

type Health = Omit<OperatorHealth, "warnings">;

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
  const found: string[] = [];
  if (release === 0) found.push("Nothing has been published yet.");
  const behind = oldest_waiting_s !== null && oldest_waiting_s > publishWaitMaxS;
  if (held) {
    found.push(
      "A rollback holds publishing: readers see nothing new until `bun run publish --resume`.",
    );
  } else if (behind) {
    found.push(
      `Publishing is behind: the oldest change has waited for ${spanOf(oldest_waiting_s)}.`,
    );
  }
  if (failures > 0) {
    found.push(`${failures} pages could not be rendered; their older versions stay.`);
  }
  return found;
}

const noNode =
  "No node of the chain is named (ALMONER_SOLANA_RPC_URLS), so no one can give: who asks what to pay is answered 503.";

function chainWarnings({ chain }: Health): string[] {
  if (chain === null) return [];
  const { answers, why, disagreements, nodes } = chain;
  if (nodes === 0) return [noNode];
  const found: string[] = [];
  if (!answers) found.push(`The chain does not answer: ${why ?? "no reason given"}.`);
  if (disagreements > 0) {
    found.push(
      `RPC nodes contradicted each other ${disagreements} times in the last 24 hours: one of them lies or is broken, and the log names them. Gifts wait until two agree.`,
    );
  }
  return found;
}

const runwayDaysMin = 7;

function sponsorWarnings({ sponsor }: Health): string[] {
  if (sponsor === null) return [];
  const { address, refuses, runway_days } = sponsor;
  if (refuses !== null) {
    const why =
      refuses === "budget"
        ? "its budget of 24 hours is used up (ALMONER_SPONSOR_LAMPORTS_PER_DAY)"
        : `it has too little SOL: send some to ${address}`;
    return [`The sponsor pays no fees: ${why}. Donors are asked to pay their own.`];
  }
  return runway_days !== null && runway_days < runwayDaysMin
    ? [`The sponsor's SOL lasts for ${runway_days} more days: send some to ${address}.`]
    : [];
}

function donationWarnings({ donations: { voided, newest_voided, unsettled } }: Health): string[] {
  const found: string[] = [];
  if (voided > 0) {
    found.push(
      `${voided} recorded gifts vanished from the chain in the last 30 days and were voided. The newest: ${newest_voided}. Look at the RPC nodes that showed them.`,
    );
  }
  if (unsettled > 0) {
    found.push(
      `${unsettled} recorded gifts are not final after an hour: the RPC nodes can neither prove nor deny them. Name nodes that keep old blocks.`,
    );
  }
  return found;
}

const registerWarnings = ({ registers }: Health): string[] =>
  registers.flatMap(({ register, fetched_at, problem }) =>
    problem === null
      ? []
      : [
          `Fetching ${register} failed on ${fetched_at.slice(0, 10)}: ${problem}. \`bun run import ${register} --fetch\` tries again.`,
        ],
  );

const noBackup =
  "No backup has been recorded. `bun run backup` makes one; with a database server make one there, or `bun run export --all`, and touch `last-backup` in the data folder.";

function backupWarnings({ backup, backup_problem }: Health): string[] {
  if (backup_problem !== null) return [`The last backup failed: ${backup_problem}`];
  if (backup === null) return [noBackup];
  return backup.age_s > backupAgeMaxS ? [`The last backup is ${spanOf(backup.age_s)} old.`] : [];
}

const diskWarnings = ({ store: { free_bytes } }: Health): string[] =>
  free_bytes !== null && free_bytes < freeBytesMin
    ? [`The disk has only ${Math.floor(free_bytes / 1e6)} MB left.`]
    : [];

const quotaWarnings = ({ refused: { requests, hours } }: Health): string[] =>
  (requests["stored"] ?? 0) > 0
    ? [
        `${requests["stored"]} writes were refused in ${hours} hours because the day's room was used up (ALMONER_STORED_MB_PER_DAY).`,
      ]
    : [];

function accessWarnings({ access }: Health): string[] {
  const { hours, failed_sign_ins, untrusted_proxy_requests } = access;
  const found: string[] = [];
  if (failed_sign_ins >= failedSignInsMax) {
    found.push(
      `${failed_sign_ins} sign-ins of operators failed in the last ${hours} hours. The service's log and the audit log tell more; replace a token that others may know.`,
    );
  }
  if (untrusted_proxy_requests > 0) found.push(untrustedProxy);
  return found;
}

/** "5 minutes", "3 hours", "2 days": rounded down, as a person would say it. */
function spanOf(seconds: number): string {
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds >= 7_200) return `${Math.floor(seconds / 3_600)} hours`;
  return `${Math.floor(seconds / 60)} minutes`;
}
