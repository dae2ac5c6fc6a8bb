import { describe, expect, test } from "bun:test";
import { isBrokenObject, objectIn } from "#content/contract/base/json.ts";
import { rowFrom, rowInWords } from "#content/enrichment/value.ts";

describe("a JSON object in a text", () => {
  test.each([
    [' {"name": "Night school"}', { name: "Night school" }],
    ["{}", {}],
    ["[1]", null],
    ["null", null],
    ["Night school", null],
    ['{"name": "Night school"', null],
    ["", null],
  ])("%p is %p", (text, object) => expect(objectIn(text)).toEqual(object));

  test.each([
    ['{"name": "Night school"', true],
    ['{"name": "Night school",}', true],
    ['{"name": "Night school"}', false],
    ["Night school {", false],
  ])("%p was meant as one and is none: %p", (text, broken) =>
    expect(isBrokenObject(text)).toBe(broken),
  );
});

describe("a row in words", () => {
  const inWords = (field: "programme" | "impact_metric", value: unknown) => {
    const row = rowFrom(field, typeof value === "string" ? value : JSON.stringify(value));
    return row === null ? null : rowInWords(row);
  };

  const lessons = { name: "Night school", description: "Evening lessons" };
  const whole = { ...lessons, beneficiaries_per_year: "1200", location: "Nairobi" };
  const trees = { name: "Trees", value: 12 };
  test.each([
    ["programme", "Night school. For all.", "Night school · Night school. For all."],
    ["programme", "Night school", "Night school"],
    ["programme", whole, "Night school · Evening lessons · 1,200 people a year · Nairobi"],
    ["programme", { name: "Night school", location: "" }, "Night school"],
    ["programme", { name: "Night school", description: "" }, "Night school"],
    ["programme", { name: "Night school", beneficiaries_per_year: "many" }, null],
    ["impact_metric", { ...trees, unit: "thousand", period: "2025" }, "Trees: 12 thousand · 2025"],
    ["impact_metric", { name: "Trees", value: "a few" }, "Trees: a few"],
    ["impact_metric", "Twelve thousand trees", null],
  ] as const)("%s %p: %p", (field, value, words) => expect(inWords(field, value)).toBe(words));
});
