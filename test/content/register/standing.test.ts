import { describe, expect, test } from "bun:test";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import { readOrgId, type RegisterNumber } from "#content/register/org-id.ts";
import { aRegisterRecord } from "#test/support/records.ts";
import { organisationAnswer, type ScopesRead } from "#content/register/standing.ts";

const numberOf = (text: string): RegisterNumber => {
  const read = readOrgId(text);
  if (!read.ok) throw new Error(text);
  return read.value;
};
const ein = numberOf("990305781");

const said = (register: string, parts: Partial<RegisterRecord> = {}): RegisterRecord =>
  aRegisterRecord({
    org_id: ein.org_id,
    register,
    name: "Hawaii Foodbank Inc",
    as_of: "2026-01-10",
    scope: "HI",
    ...parts,
  });
const bmf = (parts: Partial<RegisterRecord> = {}) =>
  said("irs-bmf", { facts: { deductibility: "1" }, ...parts });
const pub78 = (code: string) => said("irs-pub78", { facts: { deductibility: code } });
const revocation = (parts: Partial<RegisterRecord> = {}) =>
  said("irs-revocations", {
    state: "revoked",
    facts: { revoked: "2020-05-15", posted: "2020-09-14" },
    ...parts,
  });

const scopes: ScopesRead = new Map([
  ["irs-bmf", new Map([["HI", "2026-04-14"]])],
  ["irs-revocations", new Map([["HI", "2026-05-01"]])],
]);
const baseUrl = "https://almoner.example";
const about = (records: RegisterRecord[], read = scopes, number = ein) =>
  organisationAnswer(number, { records, profile: null }, { scopes: read, baseUrl });

describe("the standing is", () => {
  const scottish = numberOf("SC041666");
  const english = numberOf("GB-CHC-210183");
  const reinstated = { state: "reinstated" as const, facts: { reinstated: "2021-01-05" } };
  test.each<[string, RegisterRecord[], object]>([
    ["registered", [bmf()], { register: "irs-bmf", as_of: "2026-04-14", since: null }],
    ["registered", [pub78("PC")], { register: "irs-pub78", as_of: "2026-01-10" }],
    ["revoked", [revocation()], { register: "irs-revocations", since: "2020-05-15" }],
    // A list of before the revocation says nothing of it.
    [
      "revoked",
      [bmf(), revocation({ facts: { revoked: "2026-03-15", posted: "2026-05-11" } })],
      { register: "irs-revocations", as_of: "2026-05-01" },
    ],
    ["reinstated", [bmf(), revocation()], { register: "irs-bmf", as_of: "2026-04-14" }],
    ["reinstated", [revocation(reinstated)], { since: "2021-01-05" }],
    ["reinstated", [bmf(), revocation(reinstated)], { register: "irs-revocations" }],
    ["not listed", [bmf({ state: "gone" }), revocation(reinstated)], { as_of: "2026-04-14" }],
    ["not listed", [bmf({ state: "gone" })], { register: "irs-bmf" }],
    // A list that no longer names it as revoked.
    ["not listed", [revocation({ state: "gone" })], { register: "irs-bmf" }],
    ["registered", [bmf(), revocation({ state: "gone" })], { register: "irs-bmf" }],
    ["removed", [bmf({ state: "removed", facts: { removed: "2019-02" } })], { since: "2019-02" }],
    ["not listed", [], { register: "irs-bmf", as_of: "2026-04-14", since: null }],
  ])("%s, of %j", (value, records, parts) => {
    expect(about(records).standing).toMatchObject({ value, ...parts });
  });

  test("unknown where nothing was read, and never revoked for a missing row", () => {
    expect(about([], new Map()).standing).toMatchObject({ value: "unknown", register: null });
    expect(about([]).standing.meaning).toMatch(/churches and subordinates of a group/);
    const revokedOnly = new Map([["irs-revocations", new Map([["", "2026-05-01"]])]]);
    expect(about([], revokedOnly).standing.value).toBe("unknown");
    expect(about([], new Map(), scottish)).toMatchObject({
      found: false,
      country: "United Kingdom",
      deductibility: null,
      standing: { value: "unknown" },
    });
  });

  test("unknown in Scotland where only the register of England and Wales was read", () => {
    const as_of = "2026-04-14";
    const read: ScopesRead = new Map([["ukcat", new Map([["GB-CHC", as_of]])]]);
    const unread = { state: "not read", as_of: null };
    expect(about([], read, scottish)).toMatchObject({
      standing: { value: "unknown", register: null, as_of: null },
      registers: [
        { register: "oscr", ...unread },
        { register: "ukcat", ...unread },
      ],
    });
    expect(about([], read, english)).toMatchObject({
      standing: { value: "not listed", register: "ukcat", as_of },
      registers: [{ register: "ukcat", state: "not listed", as_of }],
    });
  });

  test("that of the whole register, whatever a selection of it said before", () => {
    const same = { org_id: english.org_id, facts: { removed: "2026-01-02" } };
    const both = [said("ukcat", same), said("ccew", { ...same, state: "removed" })];
    const standing = { value: "removed", register: "ccew", since: "2026-01-02" };
    expect(about(both, new Map(), english)).toMatchObject({ standing });
  });
});

test.each<[string, RegisterRecord[], object]>([
  ["deductible", [bmf()], { register: "irs-bmf", meaning: "Deductible from US tax" }],
  ["deductible", [pub78("FED")], { register: "irs-pub78" }],
  ["not deductible", [revocation()], { register: "irs-revocations" }],
  ["unknown", [], { register: "irs-bmf" }],
  ["unknown", [bmf({ facts: {} })], {}],
])("gifts are %s, by %j", (value, records, parts) => {
  expect(about(records).deductibility).toMatchObject({ value, ...parts });
});

test("each register says what it knows, and where to look", () => {
  const { registers, name, found } = about([bmf()]);
  expect([name, found]).toEqual(["Hawaii Foodbank Inc", true]);
  const record_url = expect.stringContaining("990305781");
  expect(registers).toMatchObject([
    { register: "irs-bmf", state: "registered", as_of: "2026-04-14", record_url },
    { register: "irs-pub78", state: "not read", as_of: null },
    { register: "irs-revocations", state: "not listed", as_of: "2026-05-01" },
  ]);
});

test("an organisation that only filed is not listed, and its filing is shown", () => {
  const facts = { form: "990-N", period_end: "2025-12-31" };
  const answer = about([said("irs-990n", { state: "filed", facts, as_of: "2026-08-31" })]);
  expect(answer).toMatchObject({ found: true, name: "Hawaii Foodbank Inc" });
  expect(answer.standing).toMatchObject({ value: "not listed", register: "irs-bmf" });
  expect(answer.deductibility).toMatchObject({ value: "unknown" });
  expect(answer.registers.at(-1)).toMatchObject({ register: "irs-990n", state: "filed" });
  const latest = answer.giver_answers.find(({ question }) => question === "latest_return");
  expect(latest).toMatchObject({ value: "2025-12-31", age_months: 8, register: "irs-990n" });
  // The date is that of the newest file that says so.
  const [gifts] = about([bmf()]).giver_answers;
  expect(gifts).toMatchObject({ question: "deductible", value: "yes", as_of: "2026-04-14" });
});
