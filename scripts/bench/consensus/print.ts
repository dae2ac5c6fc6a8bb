import type { SimulationOutcome, Spread } from "#content/contract/consensus-simulation.ts";

type Column = { head: string; of: (one: SimulationOutcome) => string };

const range = ({ mean, least, most }: Spread, places = 0): string =>
  `${mean.toFixed(places)} (${least.toFixed(places)}-${most.toFixed(places)})`;

const orDash = (value: number | null): string => (value === null ? "-" : String(value));

const columns: readonly Column[] = [
  { head: "attack", of: ({ attack }) => attack },
  { head: "mode", of: ({ mode }) => mode },
  { head: "went live", of: ({ promotions }) => promotions.mean.toFixed(0) },
  { head: "false", of: ({ false_promotions }) => range(false_promotions) },
  { head: "false %", of: ({ false_percent }) => range(false_percent, 1) },
  { head: "by attack", of: ({ false_by_attack }) => range(false_by_attack) },
  { head: "sent", of: ({ attack_submissions }) => attack_submissions.mean.toFixed(0) },
  { head: "sent/false", of: ({ submissions_per_false }) => orDash(submissions_per_false) },
  { head: "ids", of: ({ ids }) => String(ids) },
  { head: "networks", of: ({ networks }) => String(networks) },
  { head: "days", of: ({ attack_hours }) => (attack_hours.mean / 24).toFixed(3) },
  { head: "429", of: ({ attack_refused }) => attack_refused.mean.toFixed(0) },
  {
    head: "reverted: false left",
    of: ({ false_after_revert }) => false_after_revert.mean.toFixed(0),
  },
  { head: "true lost", of: ({ true_lost_by_revert }) => true_lost_by_revert.mean.toFixed(0) },
  { head: "true: median h", of: ({ true_hours_median }) => range(true_hours_median) },
  { head: "p90 h", of: ({ true_hours_p90 }) => range(true_hours_p90) },
  {
    head: "completed %",
    of: ({ profiles_completed_percent }) => range(profiles_completed_percent, 0),
  },
];

/** A table of all outcomes: means, in brackets the least and the most of the seeds. */
export function outcomeTable(outcomes: readonly SimulationOutcome[]): string {
  const rows = [
    columns.map(({ head }) => head),
    ...outcomes.map((one) => columns.map(({ of }) => of(one))),
  ];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)));
  return rows.map((row) => line(row).join("  ").trimEnd()).join("\n");
}

/** JSON as the formatter leaves it: what has no parts of its own stands on one line. */
export const formattedJson = (value: unknown): string =>
  `${JSON.stringify(value, null, 2)
    .replaceAll(/\{\s+([^{}[\]]{1,80}?)\s+\}/g, (_, inner: string) => `{ ${oneLine(inner)} }`)
    .replaceAll(/\[\s+([\d,\s]+?)\s+\]/g, (_, inner: string) => `[${oneLine(inner)}]`)}\n`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");
