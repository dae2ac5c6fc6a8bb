import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { agentFlags, foldAgentId, isMixedScript } from "#content/enrichment/agent.ts";
import { publicValue, tracedValue, tracedValues } from "#content/nonprofit/wire.ts";
import {
  rowFrom,
  checkSourceUrl,
  checkValue,
  isTestData,
  testCause,
  type TestCause,
} from "#content/enrichment/value.ts";
import { dayPivot, rotate } from "#content/enrichment/needs-store.ts";
import { promotionNote } from "#content/enrichment/consensus.ts";
import {
  characterCount,
  textFault,
  unsafeCharacter,
  withoutUnsafe,
} from "#content/nonprofit/text.ts";
import { enrichableFields, type EnrichableField, lengthMax } from "#content/contract/enrichment.ts";
import { anyText } from "#test/support/any-text.ts";

const check = (field: EnrichableField, value: string) =>
  checkValue(field, value, { thisYear: 2026 });

test.each<[EnrichableField, string, string]>([
  ["website", "Oak.example/About?utm_source=x", "https://oak.example/About"],
  ["contact_email", " Office@Oak.example ", "Office@Oak.example"],
  ["city", " Oslo ,", "Oslo"],
  ["founded_year", "since 1900", "1900"],
  ["founded_year", "1000", "1000"],
  ["founded_year", "2026", "2026"],
  ["founded_year", "1987, in 1987", "1987"],
  ["mission", "  Food for all.\nEvery day. ", "Food for all.\nEvery day."],
  ["tagline", "Food  for all", "Food for all"],
  ["website", "https://oak.example/%C3%28", "https://oak.example/%C3%28"],
  ["programme", "Soup kitchen", "Soup kitchen"],
  ["programme", '{"name":"Soup","x":1}', '{"name":"Soup","x":1}'],
  ["impact_metric", '{"name":"Meals","value":12}', '{"name":"Meals","value":12}'],
  ["mission", "نیم‌فاصله 👩‍🌾 🏴󠁧󠁢󠁳󠁣󠁴󠁿", "نیم‌فاصله 👩‍🌾 🏴󠁧󠁢󠁳󠁣󠁴󠁿"],
])("the %s %p goes live as %p", (field, raw, live) => {
  const checked = check(field, raw);
  expect(checked.ok && checked.value.value).toBe(live);
});

describe("a value that is refused", () => {
  test.each<[EnrichableField, why: string, string[]]>([
    ["website", "that leads nowhere", ["http://127.0.0.1/"]],
    ["website", "too long once written", [`https://oak.example/${"é".repeat(2_000)}`]],
    [
      "contact_email",
      "without a host",
      ["office", "a@b", "a@localhost", "a@oak.garden5", "a@[10.0.0.1]"],
    ],
    ["contact_email", "of several words", ["a b@oak.example", "a@oak.example, b@oak.example"]],
    ["contact_email", "in brackets", ["<a@oak.example>"]],
    ["city", "without a letter", [",", "1234", "\u3164"]],
    ["city", "with a sign that nobody sees", ["Os\u0000lo", "Os\nlo", "\u202EolsO", "Os\u200Blo"]],
    ["city", "with a joiner or a filler", ["Os\u200Dlo", "Oslo\u115F"]],
    ["region", "without a letter", ["--", "\u2800"]],
    ["founded_year", "out of range", ["0999", "2027"]],
    ["founded_year", "that is no one year", ["long ago", "1987 or 1990"]],
    ["mission", "that nobody sees", ["\u115F\u200D", "   "]],
    ["mission", "with a hidden text", ["hidden \u{E0041}\u{E0042}", "bell\u0007", "rtl \u2067x"]],
    ["mission", "with half a character", ["lone \uD800", "variation a\uFE0F\uFE0E"]],
    ["programme", "without a name", ['{"title":"no name"}']],
    ["programme", "with a hidden text", ['{"name":"bidi \\u202e"}']],
    ["impact_metric", "without a value", ['{"name":"Meals"}']],
  ])("a %s %s", (field, _, texts) => {
    for (const text of texts) {
      const message = expect.stringContaining(field);
      expect(check(field, text)).toMatchObject({ ok: false, failure: message });
    }
  });

  test.each(enrichableFields)("%s too long", (field) => {
    const checked = check(field, "é".repeat(lengthMax[field] + 1));
    expect(checked.ok ? "" : checked.failure).toContain(lengthMax[field].toLocaleString("en"));
    expect(check(field, "x".repeat(65_536)).ok).toBe(false);
  });
});

test("a text is measured in characters, not in bytes", () => {
  expect(check("tagline", "🌾".repeat(160)).ok).toBe(true);
  expect(characterCount("🌾a")).toBe(2);
});

test.each([
  [null, null],
  [" HTTPS://Oak.example/A ", "https://oak.example/A"],
])("the source %p is kept as %p", (source, value) => {
  expect(checkSourceUrl(source)).toEqual({ ok: true, value });
});

test.each(["javascript:alert(1)", "oak", "https://u:p@oak.example", "https://o\u202Ek.example"])(
  "%j is no source",
  (source) => expect(checkSourceUrl(source).ok).toBe(false),
);

test("unsafe characters are named, and can be taken out; line breaks and emoji stay", () => {
  expect(withoutUnsafe("a\u202Eb\u0007\n🏴󠁧󠁢󠁳󠁣󠁴󠁿")).toBe("ab\n🏴󠁧󠁢󠁳󠁣󠁴󠁿");
  expect(unsafeCharacter("a\u202Eb", { prose: true })).toBe("U+202E");
  expect(unsafeCharacter("a\u{E0041}", { prose: true })).toBe("U+E0041");
  expect(unsafeCharacter("葛󠄀飾", { prose: true })).toBeNull();
  expect(unsafeCharacter("葛󠄀飾", { prose: false })).toBe("U+E0100");
  expect(textFault("agent_name", " ")).toBe("agent_name is empty.");
  expect(textFault("agent_name", "Bot\u2066")).toContain("U+2066");
  expect(textFault("agent_name", "\uFE0F")).toBe("agent_name is empty.");
  expect(textFault("agent_name", "Bot")).toBeNull();
  expect(unsafeCharacter("\u115F\u1161", { prose: true })).toBeNull(); // Old Korean.
});

test.each([
  [["Bot-7", " bot-7 ", "ＢＯＴ-７", "bot\uFE0F-7", "bot-\u034F7\u3164"], "bot-7"],
  [["bot\u20107", "bot\u20147", "bot\u22127"], "bot-7"],
  [["ΒΑΣ-7", "βας-7"], "βασ-7"],
  [["ΒΑΣ", "βασ"], "βασ"],
  [["cafe\uFE00\u0301-bot"], "café-bot"],
  [["\u1100\uFE00\u1161\u11A8-bot"], "각-bot"],
])("the ids %j are those of the agent %s", (variants, id) => {
  for (const variant of variants) expect(foldAgentId(variant)).toBe(id);
});

test("an id that is folded stays so, whatever nobody sees in it", () => {
  fc.assert(
    fc.property(anyText(), anyText(), (head, tail) => {
      const folded = foldAgentId(head + tail);
      expect(foldAgentId(folded)).toBe(folded);
      expect(foldAgentId(`${head}\uFE00${tail}`)).toBe(folded);
    }),
  );
});

test.each([
  [["b\u043Et-7", "b\u2800ot", "al\u0131ce", "\u0261uide", "b\u2c9ft", "b\u1d0ft"], true],
  [["bot-7", "øystein", "müller", "ქართული", "агент", "ɓala", "日本のbot", "ボット漢字bot"], false],
])("of the ids %j it is %p that they are flagged as look-alikes", (ids, isFlagged) => {
  for (const id of ids) expect(agentFlags(id)).toEqual(isFlagged ? ["mixed_script_id"] : []);
});

test("a name may hold what an id may not", () => {
  expect(isMixedScript("Kızılay")).toBe(false);
});

test.each([
  ["contact_email", "jane@oak.example", "j…@oak.example", "j…@oak.example"],
  ["contact_email", "odd", "o…", "o…"],
  ["city", "a@b.example", "a@b.example", "a@b.example"],
  ["mission", "a".repeat(400), "a".repeat(400), `${"a".repeat(299)}…`],
  ["mission", `${"a".repeat(298)}😀b`, `${"a".repeat(298)}😀b`, `${"a".repeat(298)}…`],
] as const)("the %s %j is public as %j, and in the history as %j", (field, value, told, traced) => {
  expect(publicValue(field, value)).toBe(told);
  expect(tracedValue(field, value)).toBe(traced);
});

test("the history has the values of fields that hold one", () => {
  const values = { city: null, team_size: 3, causes: [] };
  expect(tracedValues(values, ["causes", "city"])).toEqual({ city: null });
  expect(tracedValues(values, ["team_size"])).toEqual({ team_size: "3" });
  expect(tracedValues({}, ["causes"])).toBeNull();
});

describe("test data", () => {
  const one = { field: "city", value: "Oslo", agent_id: "bot", agent_name: "Bot" };
  test.each([
    [{ field: "website", value: "https://example.org" }, "example_host"],
    [{ field: "website", value: "https://www.example.com/a" }, "example_host"],
    [{ field: "contact_email", value: "a@example.net" }, "example_host"],
    [{ field: "website", value: "https://oak.example" }, null],
    [{ field: "website", value: "https://myexample.org" }, null],
    [{ value: "placeholder" }, "filler"],
    [{ value: "Send money to www.oslo.example" }, "message"],
    [{ field: "website", value: `https://oak.example/${"ab-".repeat(12)}` }, "message_in_website"],
    [{ field: "website", value: `https://oak.example/${"ab-".repeat(10)}` }, null],
    [{ agent_id: "test-agent-1" }, "test_agent"],
    [{ agent_name: "TestBot" }, "test_agent"],
    [{ agent_name: "Debug runner" }, "test_agent"],
    [{ agent_name: "Contest winner" }, null],
    [{ agent_id: "latest-bot" }, null],
    [{}, null],
  ])("%j: %p", (parts, cause) => {
    const submitted = { ...one, ...parts };
    expect(testCause(submitted)).toBe(cause as TestCause | null);
    expect(isTestData(submitted)).toBe(cause !== null);
  });

  test("a note names the one cause", () => {
    const note = promotionNote("website", { kind: "test", cause: "example_host" });
    expect(note).toContain("example.org");
    expect(note).not.toMatch(/debug|placeholder|city/);
    const long = promotionNote("website", { kind: "test", cause: "message_in_website" });
    expect(long).not.toMatch(/city|plain name/);
  });
});

test.each(["programme", "impact_metric"] as const)("a %s that is broken JSON is none", (field) => {
  expect(rowFrom(field, "{not json")).toBeNull();
  const message = expect.stringContaining("is a quote missing?");
  expect(check(field, '{"name": "Soup')).toMatchObject({ ok: false, failure: message });
});

test("the rotation begins elsewhere each day and leaves nothing out", () => {
  const days = Array.from(
    { length: 30 },
    (_, day) => `2026-06-${String(day + 1).padStart(2, "0")}`,
  );
  const pivots = days.map((day) => dayPivot(day, 41_000));
  expect(new Set(pivots).size).toBe(30);
  expect(pivots.every((pivot) => pivot >= 0 && pivot < 41_000)).toBe(true);
  expect(dayPivot("2026-06-01", 0)).toBe(0);
  expect(rotate([1, 2, 3, 4], (item) => item < 3)).toEqual([3, 4, 1, 2]);
  expect(rotate([1, 2], (item) => item < 9)).toEqual([1, 2]);
});

test("every note names the field and says what comes next", () => {
  const awaiting = { kind: "awaiting", tests: false } as const;
  const notes = (
    [
      { ...awaiting, agents: 1, rivals: true, mode: "agents" },
      { ...awaiting, agents: 2, rivals: false, mode: "networks" },
      { kind: "live", agents: 2 },
      { kind: "publishing", agents: 2, held: false },
      ...(["accepted", "queued", "audit", "corroborates"] as const).map((kind) => ({ kind })),
    ] as const
  ).map((note) => promotionNote("city", note));
  expect(new Set(notes).size).toBe(notes.length);
  expect(notes.every((note) => note.includes("city"))).toBe(true);
  expect(notes[0]).toContain("breaks the tie");
  expect(promotionNote("city", { kind: "audit" })).toEndWith("POST /api/corrections/{slug}");
  expect(promotionNote("city", { kind: "rejected", reason: "not so" })).toBe("Rejected: not so");
});
