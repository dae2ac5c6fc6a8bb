import { micro, usdcNumber } from "#content/contract/base/money.ts";
import type { FunnelGroup } from "#content/contract/operator.ts";
import type { FunnelRow } from "./follow-through-store.ts";

/** Calls and what followed them: all, then by phase, intent and cause, those with most calls first. */
export const funnelOf = (rows: readonly FunnelRow[]): FunnelGroup[] => [
  sumOf("all", "", rows),
  ...(["phase", "intent", "cause"] as const).flatMap((by) =>
    [...Map.groupBy(rows, (row) => String(row[by]))]
      .map(([value, same]) => sumOf(by, value, same))
      .sort((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1)),
  ),
];

function sumOf(by: FunnelGroup["by"], value: string, rows: readonly FunnelRow[]): FunnelGroup {
  const sum = (name: "calls" | "answered" | "profile" | "donate" | "donation") =>
    rows.reduce((all, row) => all + row[name], 0);
  const given = rows.reduce((all, row) => all + row.given_micro_usdc, 0n);
  return {
    by,
    value,
    calls: sum("calls"),
    answered: sum("answered"),
    profile: sum("profile"),
    donate: sum("donate"),
    donation: sum("donation"),
    given_usdc: usdcNumber(micro(given)),
  };
}
