import { expect, test } from "bun:test";
import { aNonprofit } from "#test/support/records.ts";
import type { CorrectionField, SettableByCorrection } from "#content/contract/correction.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import {
  correctedValue,
  isSettable,
  readCorrection,
  saysAlready,
} from "#content/correction/read.ts";

const thisYear = 2026;
const sent = { field: "city", what_is_wrong: "They moved." };
const read = (body: unknown) => readCorrection(body, { thisYear });

test("a correction is cleaned, and what is empty is absent", () => {
  const cleaned = {
    field: "city" as const,
    what_is_wrong: "They\nmoved.",
    suggested_value: "Kisumu",
    source_url: "https://kitchen.example/contact",
    contact_email: "ada@kitchen.example",
  };
  const what_is_wrong = "  They\nmoved. ";
  const spaced = { suggested_value: " Kisumu ", contact_email: " ada@kitchen.example" };
  expect(read({ ...cleaned, what_is_wrong, ...spaced })).toEqual({ ok: true, value: cleaned });
  const absent = { suggested_value: null, source_url: null, contact_email: null };
  const empty = { suggested_value: "", source_url: " ", contact_email: null };
  expect(read({ ...sent, ...empty })).toMatchObject({ value: absent });
});

test.each([
  ["field", { ...sent, field: "contact_email" }],
  ...[undefined, " \u200B", "x".repeat(1_001), "x".repeat(20_001), "moved\u202E"].map(
    (what_is_wrong) => ["what_is_wrong", { ...sent, what_is_wrong }] as const,
  ),
  ["suggested_value", { ...sent, field: "other", suggested_value: "x".repeat(5_001) }],
  ["suggested_value", { ...sent, field: "founded_year", suggested_value: "long ago" }],
  ["suggested_value", { ...sent, field: "website", suggested_value: "http://127.0.0.1" }],
  ["suggested_value", { ...sent, field: "causes", suggested_value: "education, magic" }],
  ["source_url", { ...sent, source_url: "javascript:alert(1)" }],
  ["source_url", { ...sent, source_url: `https://a.example/${"x".repeat(2_100)}` }],
  ["contact_email", { ...sent, contact_email: "nobody" }],
  ["", null],
] as const)("what cannot be used is named: %s", (path, body) => {
  expect(read(body)).toMatchObject({ failure: [{ path }] });
});

const twoCauses = { causes: ["education", "water-sanitation"] };

test.each<[SettableByCorrection, string | null, Partial<NonprofitRecord> | null]>([
  ["city", "Kisumu ,", { city: "Kisumu" }],
  ["country", "Kenya", { country_code: "KE" }],
  ["founded_year", "1998", { founded_year: 1998 }],
  ["team_size", "1,200", { team_size: 1200 }],
  ["annual_budget_usd", "12 000.5", { annual_budget_usd: 12000.5 }],
  ["causes", "Education,\nwater-sanitation;education", twoCauses],
  ["causes", "Education, Water & Sanitation", twoCauses],
  ["causes", null, { causes: [] }],
  ["mission", null, { mission: null }],
  ["name", null, null],
  ["name", " Hope  Kitchen", { name: "Hope Kitchen" }],
  ...["many", " , ", "1,5", "0x7d0", "1e6", "-1"].map(
    (text): [SettableByCorrection, string, null] => ["team_size", text, null],
  ),
])("%s set to %j is %j", (field, text, values) => {
  const outcome = correctedValue(field, text, { thisYear });
  expect(outcome.ok ? outcome.value : null).toEqual(values);
  if (!outcome.ok) expect(outcome.failure).not.toBe("");
});

test("what has no single value is put right by hand, whatever is suggested", () => {
  const field: CorrectionField = "usdc_wallet";
  expect(isSettable(field)).toBe(false);
  const suggested_value = "Ask them.";
  expect(read({ ...sent, field, suggested_value })).toMatchObject({ value: { suggested_value } });
});

test.each<[CorrectionField, string | null, boolean]>([
  ["city", "Oslo", true],
  ["city", "Bergen", false],
  ["city", null, false],
  ["website", null, true],
  ["country", "Norway", true],
  ["name", null, false],
  ["other", null, false],
])("whether a profile says of its %s that it is %j: %p", (field, text, says) => {
  const record = { ...aNonprofit({ city: "Oslo", country_code: "NO", website: null }), id: 1 };
  expect(saysAlready(record, field, text, new Date("2026-06-01"))).toBe(says);
});
