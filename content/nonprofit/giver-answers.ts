import type { GiverAnswer } from "#content/contract/nonprofit.ts";
import { z } from "zod";
import { DeductibilityAnswer } from "#content/contract/standing.ts";
import words from "#content/editorial/standing.json";
import type { RegisterRecord } from "./record.ts";
import { countingRecords, factNamed, listedAfter } from "./register-facts.ts";

/** A judgement and the record that it comes from; null: from none. */
export type Judgement<Value> = { value: Value; by: RegisterRecord | null };

/** What the codes of registers mean, the register with the highest priority first; "" stands for any other code. */
const deductibilityCodes = Object.entries(words.codes).map(
  ([register, codes]) =>
    [
      register,
      new Map(Object.entries(z.record(z.string(), DeductibilityAnswer).parse(codes))),
    ] as const,
);

/** Whether the IRS says that gifts are deductible from US tax; null outside its registers. `revoked`: in force. */
export function deductibilityOf(
  records: readonly RegisterRecord[],
  revocation: RegisterRecord | null,
  scheme: string,
): Judgement<DeductibilityAnswer> | null {
  if (scheme !== usScheme) return null;
  if (revocation !== null) return { value: "not deductible", by: revocation };
  for (const [register, codes] of deductibilityCodes) {
    const by = records.find(
      (record) => record.register === register && record.state === "registered",
    );
    if (by === undefined) continue;
    const value = codes.get(String(by.facts["deductibility"])) ?? codes.get("");
    if (value !== undefined) return { value, by };
  }
  return { value: "unknown", by: null };
}
const usScheme = "US-EIN";

/** Prefer the register's own words: they tell which kind of organisation it is, and up to how much is deductible. */
export function deductibilityInWords({ value, by }: Judgement<DeductibilityAnswer>): string {
  const deductibility = by === null ? null : factNamed("deductibility", by);
  return String(deductibility?.value ?? words.deductibility[value]);
}

/** How a code of a register answers a question; from content/editorial/standing.json. */
type Rule = {
  question: string;
  /** Absent: any register with the fact `from`. */
  register?: string;
  from: string;
  /** The fact whose words are the reason for a code that has no entry in `giver_says`. */
  fact?: string;
  codes: Readonly<Record<string, string>>;
};
const rulesOf = Map.groupBy(words.giver_rules as readonly Rule[], ({ question }) => question);
const says = new Map(Object.entries(words.giver_says));
const unknown = new Map(Object.entries(words.giver_unknown));

type Answer = Omit<GiverAnswer, "org_id" | "question" | "register" | "as_of"> & {
  by: RegisterRecord | null;
};

/** What is known about one number: records, the dates of their files, a revocation, and the record that lists it again. */
type RegisterFacts = {
  isUs: boolean;
  records: readonly RegisterRecord[];
  dateOf: (record: RegisterRecord) => string;
  revocation: RegisterRecord | null;
  again: RegisterRecord | null;
};

const questions: readonly [GiverAnswer["question"], (facts: RegisterFacts) => Answer | null][] = [
  ["deductible", deductibleAnswer],
  ["filing", (facts) => firstOf(codedAnswers("filing", facts))],
  ["foundation_type", (facts) => firstOf(codedAnswers("foundation_type", facts))],
  ["daf", dafAnswer],
  ["latest_return", latestReturn],
  ["revoked", revokedAnswer],
  ["reinstated", reinstatedAnswer],
  ["merged_into", mergedAnswer],
];

/**
 * The answers that registers and filings give a donor about one number; `all` are its records. An unanswered question
 * gets "not known", or is left out if it concerns only some organisations. A filing does not prove a listing.
 */
export function giverAnswers(
  org_id: string,
  all: readonly RegisterRecord[],
  dateOf = ({ as_of }: RegisterRecord): string => as_of,
): GiverAnswer[] {
  const records = countingRecords(all);
  const isUs = org_id.startsWith(`${usScheme}-`);
  const revocation = recordIn("revoked", records);
  const again = revocation && listedAfter(revocation, records, dateOf);
  const facts = { isUs, records, dateOf, revocation, again };
  return questions.flatMap(([question, answer]) => {
    const giverAnswer = answer(facts);
    const reason = unknown.get(isUs || !ofUsLaw.has(question) ? question : "abroad");
    if (giverAnswer === null && reason === undefined) return [];
    const { by, ...answerText } = giverAnswer ?? {
      value: "not known",
      reason: reason ?? "",
      by: null,
    };
    return {
      org_id,
      question,
      ...answerText,
      register: by?.register ?? null,
      as_of: by && dateOf(by),
    };
  });
}
const ofUsLaw: ReadonlySet<string> = new Set(["filing", "foundation_type", "daf", "revoked"]);

/** `giverAnswers` for all numbers in these records. */
export const allGiverAnswers = (records: readonly RegisterRecord[]): GiverAnswer[] =>
  [...Map.groupBy(records, ({ org_id }) => org_id)].flatMap((groupRecords) =>
    giverAnswers(...groupRecords),
  );

/** The answer that the table has under a name, with the record's own value if it has one. */
function answerOf(
  name: keyof typeof words.giver_says,
  by: RegisterRecord | null,
  text?: string | number,
): Answer {
  const { value, reason } = words.giver_says[name];
  return { value: String(text ?? value), reason, by };
}

const recordIn = (state: RegisterRecord["state"], records: readonly RegisterRecord[]) =>
  records.find((record) => record.state === state) ?? null;

function deductibleAnswer(facts: RegisterFacts): Answer | null {
  const { isUs, records, revocation, again } = facts;
  const revocationInForce = again === null ? revocation : null;
  const gifts = deductibilityOf(records, revocationInForce, isUs ? usScheme : "");
  if (gifts === null) return firstOf(codedAnswers("deductible", facts));
  const { value, by } = gifts;
  const statement = {
    value: words.giver_deductible[value],
    reason: deductibilityInWords(gifts),
    by,
  };
  const code = by?.facts["deductibility"];
  return code === undefined ? statement : { ...statement, code: String(code) };
}

/** The answers of all registers that list the organisation, by their codes. */
const codedAnswers = (question: string, { records }: RegisterFacts): Answer[] =>
  (rulesOf.get(question) ?? []).flatMap(({ register, from, fact = "", codes }) =>
    records.flatMap((by) => {
      const code = String(by.facts[from]);
      const name = Object.hasOwn(codes, code) ? codes[code] : undefined;
      const isAsked = by.state === "registered" && (register ?? by.register) === by.register;
      if (name === undefined || !isAsked) return [];
      const statement = { value: name, reason: String(factNamed(fact, by)?.value) };
      return { ...(says.get(name) ?? statement), code, by };
    }),
  );

/** The first answer that decides the question; an undecided one counts only if there is no other. */
const firstOf = (answers: readonly Answer[]): Answer | null =>
  answers.find(isAnswered) ?? answers[0] ?? null;
const isAnswered = ({ value }: Answer): boolean => value !== "not known";

/** The answer by code, unless gifts are not deductible or registers of the IRS disagree. */
function dafAnswer(facts: RegisterFacts): Answer | null {
  const gifts = deductibleAnswer(facts);
  if (facts.isUs && gifts?.value === "no") return answerOf("daf_not_deductible", gifts.by);
  const answers = codedAnswers("daf", facts);
  const isDisputed = new Set(answers.filter(isAnswered).map(({ value }) => value)).size > 1;
  const answer = firstOf(answers);
  return isDisputed ? answerOf("daf_disputed", answer?.by ?? null) : answer;
}

/** The newest period that ended, from all registers and filings; for one month, the most exact date. */
function latestReturn({ records, dateOf }: RegisterFacts): Answer | null {
  const returns = (["period_end", "accounts_to", "tax_period"] as const).flatMap((from) =>
    records.flatMap((by) => {
      const end = String(by.facts[from]);
      return /^\d{4}-\d\d/.test(end) ? { from, end, by } : [];
    }),
  );
  const [newest] = returns.toSorted((a, b) => monthsOf(b.end) - monthsOf(a.end));
  if (newest === undefined) return null;
  const { from, end, by } = newest;
  const { form, terminated } = by.facts;
  const postcard = terminated === "T" ? "postcard_ended" : "postcard";
  const answer = answerOf(form === "990-N" ? postcard : from, by, end);
  const age_months = Math.max(0, monthsOf(dateOf(by)) - monthsOf(end));
  return { ...answer, age_months, ...(form === undefined ? {} : { code: String(form) }) };
}

const monthsOf = (date: string): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7));

function revokedAnswer({ isUs, records, revocation, again }: RegisterFacts): Answer | null {
  const by = revocation ?? recordIn("reinstated", records);
  const listing = recordIn("registered", records);
  if (by === null) return isUs && listing !== null ? answerOf("not_revoked", listing) : null;
  const isHolding = by === revocation && again === null;
  return answerOf(isHolding ? "revoked" : "revoked_before", by, by.facts["revoked"]);
}

function reinstatedAnswer({ records, again }: RegisterFacts): Answer | null {
  if (again !== null) return answerOf("listed_again", again);
  const by = recordIn("reinstated", records);
  return by && answerOf("reinstated", by, by.facts["reinstated"]);
}

function mergedAnswer({ records }: RegisterFacts): Answer | null {
  const by = records.find(({ facts }) => facts["merged_into"] !== undefined);
  const { merged_into, merged_into_name: name = merged_into } = by?.facts ?? {};
  return by ? { ...answerOf("merged_into", by, merged_into), name: String(name) } : null;
}
