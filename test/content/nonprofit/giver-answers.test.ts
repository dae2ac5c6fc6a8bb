import { GiverAnswer } from "#content/contract/nonprofit.ts";
import { describe, expect, test } from "bun:test";
import words from "#content/editorial/standing.json";
import { allGiverAnswers, giverAnswers } from "#content/nonprofit/giver-answers.ts";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import { factNamed } from "#content/nonprofit/register-facts.ts";
import { aRegisterRecord } from "#test/support/records.ts";

const org_id = "US-EIN-990305781";
type Facts = RegisterRecord["facts"];
type Parts = Partial<RegisterRecord>;
const said = (register: string, facts: Facts, parts: Parts = {}): RegisterRecord =>
  aRegisterRecord({ org_id, register, facts, ...parts });
const bmf = (facts: Facts, parts: Parts = {}) => said("irs-bmf", facts, parts);
const pub78 = (deductibility: string) => said("irs-pub78", { deductibility });
const postcard = (facts: Facts = {}) => {
  const card = { form: "990-N", period_end: "2025-12-31", ...facts };
  return said("irs-990n", card, { as_of: "2026-08-31", state: "filed" });
};
const revocation = (facts: Facts, parts: Parts = {}) =>
  said("irs-revocations", facts, { state: "revoked", ...parts });

const ask = (question: string, records: RegisterRecord[], id = org_id) =>
  giverAnswers(id, records).find((one) => one.question === question);

describe("a donor-advised fund may give:", () => {
  test.each([
    ["02", "yes", /private operating foundation.*170\(b\)\(1\)\(A\)\(vii\)/],
    ["03", "yes", /private operating foundation/],
    ["04", "expenditure_responsibility", /private foundation that is no operating one/],
    ...["10", "11", "12", "13", "14", "15"].map(
      (code) => [code, "yes", /public charity of section 170\(b\)\(1\)\(A\)/] as const,
    ),
    ["16", "yes", /509\(a\)\(2\).*170\(b\)\(1\)\(A\)\(viii\)/],
    ["17", "not known", /not of which type.*4966\(c\) and \(d\)\(4\)/],
    ["18", "expenditure_responsibility", /public safety/],
    ["21", "yes", /type I or II.*controls an organisation that it supports \(IRC 4966\(d\)\(4\)\)/],
    ["22", "yes", /supporting organisation/],
    ["23", "yes", /functionally integrated/],
    ["24", "expenditure_responsibility", /not functionally integrated.*disqualified/],
    ["09", "not known", /does not tell/],
    ["00", "not known", /does not tell/],
  ] as const)("by the master file's code %s: %s", (code, value, reason) => {
    const answer = ask("daf", [bmf({ foundation: code, deductibility: "1" })]);
    expect(answer).toMatchObject({ value, code, register: "irs-bmf", as_of: "2026-04-14" });
    expect(answer?.reason).toMatch(reason);
    expect(answer?.reason).toMatch(/^(?:By its|Its) IRS code.*IRC 4966\(c\)/);
  });

  test.each([
    ["yes", ["PC", "POF", "SO"]],
    ["expenditure_responsibility", ["PF", "SONFI"]],
    ["not known", ["SOUNK", "EO", "LODGE", "GROUP", "FORGN", "UNKWN", "FED"]],
  ])("by Publication 78: %s of %j", (value, codes) => {
    for (const code of codes)
      expect(ask("daf", [pub78(code)])).toMatchObject({ value, code, register: "irs-pub78" });
  });

  test("a code that answers counts before one that leaves it open", () => {
    const answer = ask("daf", [bmf({ foundation: "17" }), pub78("SO")]);
    expect(answer).toMatchObject({ value: "yes", code: "SO", register: "irs-pub78" });
    expect(ask("daf", [bmf({ foundation: "21" }), pub78("SOUNK")])?.value).toBe("yes");
  });

  const public15 = { foundation: "15", deductibility: "1" };
  const before = bmf(public15, { as_of: "2020-01-01" });
  test.each<[string, RegisterRecord[], RegExp]>([
    ["two registers disagree", [bmf({ foundation: "15" }), pub78("PF")], /say different things/],
    ["gifts are not deductible", [bmf({ ...public15, deductibility: "2" })], /code alone/],
    ["the exemption was revoked", [before, revocation({ posted: "2021-09-13" })], /not deductible/],
    ["it left the register", [bmf(public15, { state: "gone" })], /No register/],
    ["no register speaks of it", [], /No register/],
  ])("not known where %s", (_, records, reason) => {
    const answer = ask("daf", records);
    expect(answer?.value).toBe("not known");
    expect(answer?.reason).toMatch(reason);
  });
});

const files = (code: string) => [bmf({ filing: code })];
const isOf = (code: string) => [bmf({ foundation: code })];
const gifts = (code: string) => bmf({ deductibility: code });

test.each<[question: string, value: string, RegisterRecord[], RegExp, object?]>([
  ["deductible", "yes", [gifts("1")], /^Deductible from US tax$/, { code: "1" }],
  ["deductible", "no", [gifts("2")], /./, { code: "2", register: "irs-bmf" }],
  ["deductible", "by treaty", [gifts("4")], /./],
  ["deductible", "not known", [gifts("0")], /./, { register: "irs-bmf" }],
  ["deductible", "yes", [gifts("2"), pub78("PF")], /30 %/],
  [
    "deductible",
    "no",
    [pub78("PC"), revocation({ posted: "2026-05-11" })],
    /./,
    { register: "irs-revocations" },
  ],
  ["deductible", "not known", [postcard()], /./, { register: null, as_of: null }],
  ["filing", "exempt", files("00"), /No yearly return/],
  ["filing", "990 or 990-EZ", files("01"), /Form 990 or 990-EZ/],
  ["filing", "990-N", files("02"), /short form/],
  ["filing", "group return", files("03"), /within a group's return/],
  ["filing", "990-BL", files("04"), /990-BL/],
  ["filing", "exempt", files("06"), /as a church/],
  ["filing", "exempt", files("07"), /part of government/],
  ["filing", "exempt", files("13"), /religious organisation/],
  ["filing", "exempt", files("14"), /part of a state/],
  ["filing", "990-PF", files("PF"), /private foundation/],
  ["filing", "not known", files("constructor"), /No register/],
  ["foundation_type", "public charity", isOf("11"), /^School$/],
  ["foundation_type", "public charity", isOf("18"), /Tests products for public safety/],
  ["foundation_type", "supporting organisation", isOf("24"), /type III, not functionally/],
  ["foundation_type", "private operating foundation", isOf("02"), /free of excise tax/],
  ["foundation_type", "private foundation", isOf("04"), /gives grants/],
  ["foundation_type", "no 501(c)(3)", isOf("00"), /another section/],
  ["foundation_type", "not known", isOf("09"), /not settled/],
  ["foundation_type", "supporting organisation", [pub78("SONFI")], /supports public charities/],
  ["foundation_type", "not known", [pub78("EO")], /No register/],
])("%s: %s, by %j", (question, value, records, reason, parts = {}) => {
  const answer = ask(question, records);
  expect(answer).toMatchObject({ value, ...parts });
  expect(answer?.reason).toMatch(reason);
});

describe("the latest return", () => {
  const of2024 = bmf({ tax_period: "2024-12" });
  const end = { form: "990-EZ", period_end: "2024-12-31" };
  const reason = (says: string) => ({ reason: expect.stringContaining(says) });
  const card = { value: "2025-12-31", age_months: 8, code: "990-N", as_of: "2026-08-31" };
  test.each<[string, RegisterRecord[], object]>([
    ["the master file", [of2024], { value: "2024-12", age_months: 16 }],
    [
      "a postcard, which has no figures and says nothing bad",
      [of2024, postcard()],
      { ...card, register: "irs-990n", ...reason("no figures") },
    ],
    [
      "one in which it said that it has ended",
      [postcard({ terminated: "T" })],
      reason("has ended"),
    ],
    [
      "a return, of one month the most exact",
      [of2024, said("irs-990-xml", end, { state: "filed" })],
      { value: "2024-12-31", code: "990-EZ", register: "irs-990-xml" },
    ],
    [
      "the master file, where that is newer",
      [bmf({ tax_period: "2026-01" }), postcard()],
      { value: "2026-01", register: "irs-bmf" },
    ],
    ["none that is to come", [bmf({ tax_period: "2026-12" })], { age_months: 0 }],
    ["none", [bmf({ tax_period: "soon" })], { value: "not known", register: null }],
  ])("is from %s", (_, records, parts) => {
    expect(ask("latest_return", records)).toMatchObject(parts);
  });
});

describe("revoked, reinstated, merged:", () => {
  const facts = { revoked: "2019-03-15", posted: "2019-08-21" };
  const back = { revoked: "2019-03-15", reinstated: "2020-05-15" };
  test.each<[string, RegisterRecord[], (string | undefined)[]]>([
    ["listed", [bmf({})], ["no", undefined]],
    ["in no list", [], ["not known", undefined]],
    ["only filing", [postcard()], ["not known", undefined]],
    ["revoked", [revocation({ revoked: "2020-07-15" })], ["2020-07-15", undefined]],
    ["revoked, no one says when", [revocation({})], ["yes", undefined]],
    ["given back", [revocation(back, { state: "reinstated" })], ["2019-03-15", "2020-05-15"]],
    ["listed again", [bmf({}), revocation(facts)], ["2019-03-15", "yes"]],
  ])("%s", (_, records, values) => {
    const answers = ["revoked", "reinstated"].map((question) => ask(question, records)?.value);
    expect(answers).toEqual(values);
  });

  test("a revocation that holds says so in other words than one that ended", () => {
    expect(ask("revoked", [revocation(facts)])?.reason).toBe(words.standings.revoked);
    expect(ask("revoked", [bmf({}), revocation(facts)])?.reason).toBe(words.standings.reinstated);
  });

  test("it names whom it merged into", () => {
    const merged = { merged_into: "GB-CHC-210184", merged_into_name: "The Greater Trust" };
    const records = [said("ccew", merged, { org_id: "GB-CHC-210183", state: "removed" })];
    const answer = { value: merged.merged_into, name: merged.merged_into_name, register: "ccew" };
    expect(ask("merged_into", records, "GB-CHC-210183")).toMatchObject(answer);
    expect(ask("merged_into", [bmf({})])).toBeUndefined();
  });
});

test("elsewhere than in the United States its own register answers, or no one", () => {
  const id = "GB-CHC-210183";
  const facts = { gift_aid: "True", accounts_to: "2025-03-31" };
  const answers = giverAnswers(id, [said("ccew", facts, { org_id: id })]);
  const unknown = { value: "not known" };
  expect(answers).toMatchObject([
    { question: "deductible", value: "yes", reason: expect.stringContaining("Gift Aid") },
    { question: "filing", ...unknown },
    { question: "foundation_type", ...unknown },
    { question: "daf", ...unknown, reason: expect.stringContaining("US law") },
    { question: "latest_return", value: "2025-03-31" },
    { question: "revoked", ...unknown },
  ]);
  const without = [said("ccew", { gift_aid: "N" }, { org_id: id })];
  expect(ask("deductible", without, id)?.value).toBe("no");
});

test("each number of a profile has answers of its own, as the contract has them", () => {
  const other = said("ukcat", {}, { org_id: "GB-CHC-210183" });
  const answers = allGiverAnswers([other, bmf({ foundation: "15" }), postcard()]);
  expect([...new Set(answers.map((one) => one.org_id))]).toEqual(["GB-CHC-210183", org_id]);
  for (const one of answers) expect(GiverAnswer.strict().parse(one)).toEqual(one);
  expect(allGiverAnswers([])).toEqual([]);
});

test("every code of the IRS that has words has an answer", () => {
  for (const { question, register = "", from, fact = "", codes } of words.giver_rules) {
    if (question !== "filing" && question !== "foundation_type") continue;
    for (const [code, name] of Object.entries(codes)) {
      const record = said(register, { [from]: code });
      const own = name in words.giver_says || factNamed(fact, record) !== null;
      expect([code, own]).toEqual([code, true]);
    }
  }
});
