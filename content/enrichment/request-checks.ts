import { type EnrichableField, fieldTypeOf } from "#content/contract/enrichment.ts";
import { failed, noted, passed, type ReviewCheck } from "#content/contract/review.ts";
import { agentFlags } from "./agent.ts";
import { checkValue } from "./value.ts";
import { describeFaults, wordingFaults } from "#content/nonprofit/text.ts";

/** Checks that help an operator judge an agent's value: whether it may go live, what it claims, where it comes from. */
export function checksOf(
  field: EnrichableField,
  { value, source_url }: { value: string; source_url: string | null },
  now: Date,
): ReviewCheck[] {
  const usable = checkValue(field, value, { thisYear: now.getUTCFullYear() });
  return [
    usable.ok
      ? passed("form", `It is a ${field} that may go live.`)
      : failed("form", usable.failure),
    ...(fieldTypeOf(field) === "prose" ? [wordingCheck(value)] : []),
    sourceCheck(source_url),
  ];
}

export const wordingPassed = passed("wording", "It makes no claim it cannot support.");
export function wordingCheck(text: string): ReviewCheck {
  const faults = wordingFaults(text);
  return faults.length === 0 ? wordingPassed : noted("wording", `${describeFaults(faults)}.`);
}

export const sourceGiven = passed("source", "A source was given; it has not been opened.");
export const sourceCheck = (source_url: string | null): ReviewCheck =>
  source_url === null ? noted("source", "No source was given.") : sourceGiven;

export const flagsOf = ({ agent_id, test_data }: { agent_id: string; test_data: number }) => [
  ...agentFlags(agent_id),
  ...(test_data === 1 ? ["test_data"] : []),
];
