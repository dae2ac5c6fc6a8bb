import type { OperatorHealth } from "#content/contract/operations.ts";

const waitMaxS = 60;
const backupAgeMaxS = 24 * 3_600;
const freeBytesMin = 1_000_000_000;
const webhookWaitMaxS = 600;

/** What of a directory's health needs an operator, in sentences; empty when all is well. */
export function healthWarnings({
  publication,
  chain,
  backup,
  store,
  webhooks,
}: Omit<OperatorHealth, "warnings">): string[] {
  const found: (string | false | null | undefined)[] = [
    publication?.release === 0 && "Nothing has been published yet.",
    publication?.held === true &&
      "A rollback holds publishing: readers see nothing new until `bun run publish --resume`.",
    (publication?.oldest_waiting_s ?? 0) > waitMaxS &&
      publication?.held !== true &&
      `Publishing is behind: the oldest change has waited for ${spanOf(publication?.oldest_waiting_s ?? 0)}.`,
    (publication?.failures ?? 0) > 0 &&
      `${publication?.failures} pages could not be rendered; their older versions stay.`,
    chain?.answers === false && `The chain does not answer: ${chain.why ?? "no reason given"}.`,
    backup === null && "No backup is known.",
    backup !== null &&
      backup.age_s > backupAgeMaxS &&
      `The last backup is ${spanOf(backup.age_s)} old.`,
    store.free_bytes !== null &&
      store.free_bytes < freeBytesMin &&
      `The disk has only ${Math.floor(store.free_bytes / 1e6)} MB left.`,
    (webhooks.oldest_pending_s ?? 0) > webhookWaitMaxS &&
      `A webhook has waited for ${spanOf(webhooks.oldest_pending_s ?? 0)}: does its receiver answer?`,
  ];
  return found.filter((one) => typeof one === "string");
}

/** "5 minutes", "3 hours", "2 days": rounded down, as a person would say it. */
function spanOf(seconds: number): string {
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds >= 7_200) return `${Math.floor(seconds / 3_600)} hours`;
  return `${Math.floor(seconds / 60)} minutes`;
}
