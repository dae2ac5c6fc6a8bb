import { expect, test } from "bun:test";
import { sourceFrom } from "#content/nonprofit/record.ts";
import {
  filedOn,
  isOldFiling,
  namedBy,
  operatorProvenance,
  takenFrom,
  yieldsToAgents,
} from "#content/nonprofit/provenance.ts";
import { redCross } from "#test/support/filed.ts";

const agents = sourceFrom("consensus", 1, { agents: ["a", "b"] });
const register = sourceFrom("register", 1, { source: "irs-bmf" });
const operator = sourceFrom("operator", 9);

test.each([
  ["agents", agents, "consensus"],
  ["the organisation", sourceFrom("organisation", 1), "organisation"],
  ["agents, picked by an operator", takenFrom("consensus", 1), "consensus"],
  ["a correction", takenFrom("correction", 1), "correction"],
  ["an operator", operator, null],
  ["a register", register, null],
  ["nobody knows whom", undefined, null],
] as const)("a value of %s is named so", (_, source, named) => {
  expect(namedBy(source)).toBe(named);
});

test.each([
  ["website", "https://www.Oak.example:8443/home", "http://oak.example", agents],
  ["website", "https://oak.example", "https://elm.example", operator],
  ["website", "no website", "no website", operator],
  ["contact_email", "Office@oak.example", "office@oak.example", agents],
  ["city", "Lamu", "Lamu", operator],
  ["causes", ["education"], ["education"], operator],
] as const)("a %s that an operator sets to %j after %j", (field, value, before, source) => {
  const said = [{ value: before, source: agents }];
  expect(operatorProvenance(field, value, said, 9)).toEqual({ ...source, applied_at: 9 });
});

test("what a register names stays vouched for, whoever suggests to tidy it", () => {
  const value = "https://oak.example";
  const said = [
    { value, source: register },
    { value, source: takenFrom("correction", 9) },
  ];
  expect(operatorProvenance("website", `${value}/home`, said, 9)).toEqual(operator);
});

test.each([
  ["irs-990", "2023-05-31", true],
  ["irs-990", "2023-06-01", false],
  ["irs-990", "2026-01-01", false],
  ["irs-bmf", "2001-01-01", false],
  ["consensus", "2001-01-01", false],
] as const)("a value of %s from %s is an old filing on 1 June 2026: %j", (source, day, isOld) => {
  const from = sourceFrom("register", Date.parse(day), { source });
  const at = Date.parse("2026-06-01");
  expect([isOldFiling(from, at), yieldsToAgents(from, at)]).toEqual([isOld, isOld]);
});

test("a town that only its postcode names yields to agents, and a value of unknown source does not", () => {
  expect(yieldsToAgents({ ...register, rule: "from postcode CV8" }, 2)).toBe(true);
  expect(yieldsToAgents({ ...register, rule: "NTEE A65" }, 2)).toBe(false);
  expect(yieldsToAgents(undefined, 2)).toBe(false);
});

test("the form of a filed value is that of its period, or else the name of what holds it", () => {
  const at = Date.parse("2023-06-30");
  const of = (source: string) =>
    redCross({
      register_records: redCross().register_records.map((one) => ({ ...one, register: "irs-990" })),
      provenance: { website: sourceFrom("register", at, { source }) },
    });
  for (const [source, form] of [
    ["irs-990", "990"],
    ["irs-1023ez", "IRS Form 1023-EZ"],
  ] as const)
    expect(filedOn(of(source), "website")).toEqual({ source, form, period_end: "2023-06-30" });
  expect(filedOn(of("irs-bmf"), "website")).toBeNull();
  expect(filedOn(of("irs-990"), "mission")).toBeNull();
});
