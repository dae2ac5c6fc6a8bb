const dayMs = 86_400_000;
const daysKept = 7;
const weeksKept = 4;

/** The instant in a backup's name, "2026-11-22T02-30-00-000Z", in milliseconds since 1970. */
export const instantOf = (name: string): number =>
  Date.parse(name.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/, "T$1:$2:$3.$4Z"));

/** The name of a backup that is begun now: names sort as their times do. */
export const nameAt = (now: Date): string => now.toISOString().replace(/[:.]/g, "-");

/**
 * Which of these backups may go: all but the newest of each of the last seven days, and of each of the last four weeks,
 * that have any. Names that are no instants are somebody else's and stay.
 */
export function outdatedBackups(names: readonly string[]): string[] {
  const newestFirst = names
    .filter((name) => !Number.isNaN(instantOf(name)))
    .sort()
    .toReversed();
  const keptBy = (spanMs: number, count: number): string[] => {
    // 1970 began on a Thursday: weeks are counted from Monday.
    const spanOf = (name: string) => Math.floor((instantOf(name) + 3 * dayMs) / spanMs);
    const firsts = newestFirst.filter((name, at) => {
      const before = newestFirst[at - 1];
      return before === undefined || spanOf(before) !== spanOf(name);
    });
    return firsts.slice(0, count);
  };
  const kept = new Set([...keptBy(dayMs, daysKept), ...keptBy(7 * dayMs, weeksKept)]);
  return newestFirst.filter((name) => !kept.has(name));
}
