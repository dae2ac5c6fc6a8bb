import { describeFaults, wordingFaults } from "#content/recommendation/wording.ts";
import { checkValue } from "#content/enrichment/value.ts";
import { type EnrichableField, fieldTypeOf } from "#content/contract/enrichment.ts";
import type { ReviewCheck } from "#content/contract/review.ts";

/** What an operator should know of a value that an agent sent: whether it may go live, what it claims, where it is from. */
export function checksOf(
  field: EnrichableField,
  { value, source_url }: { value: string; source_url: string | null },
  now: Date,
): ReviewCheck[] {
  const usable = checkValue(field, value, { thisYear: now.getUTCFullYear() });
  const faults = fieldTypeOf(field) === "prose" ? wordingFaults(value) : null;
  return [
    usable.ok
      ? { name: "form", outcome: "passed", message: `It is a ${field} that may go live.` }
      : { name: "form", outcome: "failed", message: usable.failure.message },
    ...(faults === null ? [] : [wording(faults)]),
    source_url === null
      ? { name: "source", outcome: "noted", message: "No source was given." }
      : {
          name: "source",
          outcome: "passed",
          message: "A source was given; nothing has opened it.",
        },
  ];
}

const wording = (faults: ReturnType<typeof wordingFaults>): ReviewCheck =>
  faults.length === 0
    ? { name: "wording", outcome: "passed", message: "It claims no more than it can." }
    : { name: "wording", outcome: "noted", message: `${describeFaults(faults)}.` };
