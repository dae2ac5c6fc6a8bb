import { micro, usdcNumber, usdcText } from "#content/contract/base/money.ts";
import type { FunnelRow, FunnelStep } from "#content/recommendation/follow-through-store.ts";

export type Report = {
  /** ISO 8601, UTC. */
  since: string;
  until: string;
  kept_days: number;
  rows: readonly FunnelRow[];
  ranks: readonly { rank: number | null; opened: number }[];
};

/** The report as an object for programs: amounts in USDC. */
export const asJson = ({ since, until, kept_days, rows, ranks }: Report) => {
  const by = (name: Grouping) =>
    grouped(rows, name).map(([value, step]) => ({ [name]: value, ...stepJson(step) }));
  return {
    since,
    until,
    kept_days,
    total: stepJson(totalOf(rows)),
    by_phase: by("phase"),
    by_intent: by("intent"),
    by_cause: by("cause"),
    opened_by_rank: ranks,
  };
};

const stepJson = ({ given_micro_usdc, ...step }: FunnelStep) => ({
  ...step,
  given_usdc: usdcNumber(micro(given_micro_usdc)),
});

/** The report as a table for people. */
export function asTable(report: Report): string {
  const { since, until, kept_days, rows, ranks } = report;
  const total = totalOf(rows);
  if (total.calls === 0) return `No recommendation was asked for since ${since}.`;
  const lines = [
    headings,
    cells("all", total),
    ...(["phase", "intent", "cause"] as const).flatMap((name) =>
      grouped(rows, name).map(([value, step]) => cells(`${name} ${value}`, step)),
    ),
  ];
  return [
    `Recommendations from ${since} to ${until} (kept for ${kept_days} days)`,
    "",
    ...aligned(lines),
    "",
    `Shares are of the answered calls. A donation counts when a payment that was asked for after a call arrived: ${usdcText(micro(total.given_micro_usdc))} USDC in all.`,
    `Profiles opened by their rank: ${ranksInWords(ranks)}.`,
  ].join("\n");
}

const headings = ["", "calls", "answered", "profile", "donate request", "donation"];

const cells = (name: string, step: FunnelStep): string[] => [
  name,
  whole(step.calls),
  whole(step.answered),
  ...[step.profile, step.donate, step.donation].map((count) => withShare(count, step.answered)),
];

const whole = (count: number): string => count.toLocaleString("en");

const withShare = (count: number, of: number): string =>
  of === 0 ? whole(count) : `${whole(count)} (${((100 * count) / of).toFixed(1)} %)`;

function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length)),
  );
  return lines.map((line) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

const ranksInWords = (ranks: Report["ranks"]): string =>
  ranks.length === 0
    ? "none"
    : ranks
        .map(({ rank, opened }) => `${rank === null ? "not recommended" : rank}: ${whole(opened)}`)
        .join(", ");

type Grouping = "phase" | "intent" | "cause";

/** Steps by a column, those with most calls first. */
function grouped(rows: readonly FunnelRow[], name: Grouping): [FunnelRow[Grouping], FunnelStep][] {
  const groups = [...Map.groupBy(rows, (row) => row[name])];
  return groups
    .map(([value, same]): [FunnelRow[Grouping], FunnelStep] => [value, totalOf(same)])
    .sort(([a, one], [b, other]) => other.calls - one.calls || (String(a) < String(b) ? -1 : 1));
}

const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/** "30d", "12h", "45m" before now, or an ISO 8601 date or instant (UTC); milliseconds since 1970, null for neither. */
export function sinceFrom(text: string, now: Date): number | null {
  const [, count, unit] = /^(\d{1,5})([dhm])$/.exec(text.trim()) ?? [];
  if (count !== undefined)
    return now.getTime() - Number(count) * unitMs[unit as keyof typeof unitMs];
  if (!/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?$/.test(text.trim())) return null;
  const instant = text.trim().replace(/(?<=T[\d:.]+)$/, "Z");
  const atMs = Date.parse(instant);
  return Number.isNaN(atMs) ? null : atMs;
}

/** Groups of calls as one. */
function totalOf(rows: readonly FunnelStep[]): FunnelStep {
  const sum = (name: Exclude<keyof FunnelStep, "given_micro_usdc">) =>
    rows.reduce((all, row) => all + row[name], 0);
  return {
    calls: sum("calls"),
    answered: sum("answered"),
    profile: sum("profile"),
    donate: sum("donate"),
    donation: sum("donation"),
    given_micro_usdc: rows.reduce((all, row) => all + row.given_micro_usdc, 0n),
  };
}
