import type { Standing } from "#content/contract/standing.ts";
import { english, type TextKey, type Texts } from "#content/language/texts.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { registerById } from "#content/nonprofit/register-facts.ts";
import { schemeOf } from "#content/register/org-id.ts";
import { type Judgement, type ScopesRead, standingOf } from "#content/register/standing.ts";

/** A file that says the same as before makes no page stale; one that lists who was revoked is in the record: merge.ts. */
const notAsked: ScopesRead = new Map();

/** Where an organisation stands, once for each of its numbers that a register speaks of. */
export const standingsOf = ({
  register_records,
}: Pick<NonprofitRecord, "register_records">): Judgement<Standing>[] =>
  [...Map.groupBy(register_records, ({ org_id }) => org_id)].map(([orgId, records]) =>
    standingOf(records, notAsked, schemeOf(orgId)),
  );

const keys = {
  registered: "standing.registered",
  revoked: "standing.revoked",
  reinstated: "standing.reinstated",
  removed: "standing.removed",
  "not listed": "standing.gone",
  unknown: "standing.unknown",
} as const satisfies Record<Standing, TextKey>;

/** "registered (IRS Business Master File, as of 14 April 2026)", and whether that speaks for the organisation. */
export function standingLine(record: NonprofitRecord, t: Texts = english) {
  const said = standingsOf(record).flatMap(({ value, by }) => {
    const register = registerById(by?.register ?? "")?.name;
    if (by === null || register === undefined) return [];
    const text = t.text(keys[value], { register: t.word(register), date: t.date(by.as_of) });
    return [{ text, good: value === "registered" || value === "reinstated" }];
  });
  if (said.length === 0) {
    const key = isOfSample(record) ? "standing.sample" : "standing.unknown";
    return { text: t.text(key), tone: "unknown" as const };
  }
  const tone: "good" | "bad" = said.every(({ good }) => good) ? "good" : "bad";
  return { text: said.map(({ text }) => text).join("; "), tone };
}

/** Whether the organisation is one of the invented ones of a sample directory. */
export const isOfSample = ({ registrations }: Pick<NonprofitRecord, "registrations">): boolean =>
  registrations.some(({ org_id }) => org_id?.startsWith("XS-SAMPLE-"));
