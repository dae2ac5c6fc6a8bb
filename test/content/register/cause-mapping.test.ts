import { describe, expect, test } from "bun:test";
import { causeMapping } from "#content/register/cause-mapping.ts";

const none = { ntee: [], activity: [], keywords: [], ukcat: [], icnptso: [], purposes: [] };
const acnc = { register: "ACNC column" };
const primary = { role: "primary", confidence: "high" };
const mapping = causeMapping({
  ntee: [
    { ntee_prefix: "C", cause_id: "environment", ...primary },
    { ntee_prefix: "C3", cause_id: "water-sanitation", role: "secondary", confidence: "medium" },
    { ntee_prefix: "C3", cause_id: "environment", ...primary },
    { ntee_prefix: "C32", cause_id: "water-sanitation", ...primary },
    { ntee_prefix: "C32", cause_id: "health", role: "secondary", confidence: "low" },
    { ntee_prefix: "T", cause_id: "", role: "none", confidence: "none" },
    { ntee_prefix: "X", cause_id: "religion", ...primary },
    { ntee_prefix: "B", cause_id: "education", ...primary },
    { ntee_prefix: "Q21", cause_id: "education", role: "primary", confidence: "low" },
    { ntee_prefix: "Q21", cause_id: "adventure-travel", role: "secondary", confidence: "medium" },
  ],
  activity: [
    { activity_code: "031", ntee_first: "B28" },
    { activity_code: "031150120", ntee_first: "X22" },
    { activity_code: "124", ntee_first: "" },
  ],
  keywords: [
    { cause_id: "surf-therapy", regex: String.raw`\bSURF`, confidence: "medium" },
    { cause_id: "religion", regex: String.raw`\bCHAPEL\b`, confidence: "high" },
  ],
  ukcat: [
    { code: "BE113", cause_id: "gender-equality", role: "secondary" },
    { code: "SW203", cause_id: "housing", role: "primary" },
  ],
  icnptso: [{ code: "D32", cause_id: "housing", role: "primary" }],
  purposes: [
    {
      ...acnc,
      code: "Youth",
      cause_id: "youth-empowerment",
      role: "secondary",
      confidence: "medium",
    },
    { ...acnc, code: "Advancing_Health", cause_id: "health", ...primary },
    { register: "OSCR purpose", code: "Advancing_Health", cause_id: "religion", ...primary },
  ],
});

const australian = (marked: ReadonlySet<string>, isBroad = false) =>
  mapping.byPurposes("ACNC column", "Sample", (code) => marked.has(code), isBroad);

const american = (parts: Partial<Parameters<typeof mapping.american>[0]>) =>
  mapping.american({ foundation: "", ntee: "", activity: "000000000", name: "Sample", ...parts });

describe("an American organisation's causes", () => {
  test.each([
    ["the longest prefix", "C320", ["water-sanitation"]],
    ["two characters", "C35", ["environment", "water-sanitation"]],
    ["one character", "C99Z", ["environment"]],
  ])("come by %s of the NTEE code", (_, ntee, causes) => {
    expect(american({ ntee })).toMatchObject({ causes, by: "code" });
  });

  test.each(["T20", "999", "", "Q", "Q21"])("are none by the code %p", (ntee) => {
    expect(american({ ntee })).toEqual({ causes: [], by: "none", rule: "" });
  });

  test.each([
    // The three older codes, and a group's whole number first.
    [{ activity: "124031000" }, "activity", ["education"]],
    [{ activity: "031150120" }, "activity", ["religion"]],
    // A church's first; of schools and hospitals only the code counts.
    [{ foundation: "10" }, undefined, ["religion"]],
    [{ foundation: "10", ntee: "B20" }, undefined, ["religion", "education"]],
    [{ foundation: "11" }, "none", []],
    // Words of the name last, and beside a code only where no code can say it.
    [{ name: "Easthaven Chapel" }, "name", ["religion"]],
    [{ ntee: "B20", name: "Surf Chapel School" }, "code", ["education", "surf-therapy"]],
  ])("of %j come by its %p: %j", (parts, by, causes) => {
    expect(american(parts)).toMatchObject({ causes, ...(by && { by }) });
  });
});

test.each([
  [{ ntee: "C32" }, "NTEE C32 → Water & Sanitation (high)"],
  [{ ntee: "C35" }, "NTEE C35 → Environment (high), Water & Sanitation (medium)"],
  [{ activity: "124031000" }, "IRS activity code 031 → Education (medium)"],
  [{ activity: "031150120" }, "IRS activity code 031150120 → Religion (medium)"],
  [{ name: "Surf Chapel" }, "words of the name → Surf Therapy (medium), Religion (high)"],
  [
    { ntee: "B20", name: "Surf School" },
    "NTEE B20 → Education (high); words of the name → Surf Therapy (medium)",
  ],
])("%j names the rule and the code that chose", (parts, rule) => {
  expect(american(parts).rule).toBe(rule);
});

test.each([
  [
    ["SW203", "BE113"],
    "",
    "Sample",
    ["housing", "gender-equality"],
    ["Tag SW203 → H", "Tag BE113"],
  ],
  [[], "D32", "Sample", ["housing"], ["ICNPTSO class D32 → Housing (medium)"]],
  [["BE113", "SW203"], "D32", "Sample", ["housing", "gender-equality"], ["class D32", "Tag BE113"]],
  [[""], "", "Sample Chapel", ["religion"], ["words of the name"]],
])(
  "a British charity's causes come by its class, then its tags, then its name: %j %s %s",
  (ukcat, icnptso, name, causes, rules) => {
    const british = mapping.british({ ukcat, icnptso, name });
    expect(british.causes).toEqual(causes);
    for (const rule of rules) expect(british.rule).toContain(rule);
  },
);

test("an Australian charity's causes come by what it marks, unless it marks nearly everything", () => {
  const marked = new Set(["Youth", "Advancing_Health"]);
  expect(australian(marked).causes).toEqual(["health", "youth-empowerment"]);
  const broad = australian(marked, true);
  expect(broad.causes).toEqual(["health"]);
  expect(broad.rule).toBe("ACNC column Advancing_Health → Health (high)");
});

test("a table that names an unknown cause is refused", () => {
  const icnptso = [{ code: "A", cause_id: "gardening", role: "primary" }];
  expect(() => causeMapping({ ...none, icnptso })).toThrow();
});
