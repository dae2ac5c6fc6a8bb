import { expect, test } from "bun:test";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { namedBy, operatorsWord, takenFrom } from "#content/nonprofit/provenance.ts";

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
  expect(operatorsWord(field, value, said, 9)).toEqual({ ...source, applied_at: 9 });
});

test("what a register names stays vouched for, whoever suggests to tidy it", () => {
  const value = "https://oak.example";
  const said = [
    { value, source: register },
    { value, source: takenFrom("correction", 9) },
  ];
  expect(operatorsWord("website", `${value}/home`, said, 9)).toEqual(operator);
});
