import { describe, expect, test } from "bun:test";
import { checkPickText } from "#content/recommendation/pick-text.ts";
import { sensitiveClaims } from "#content/nonprofit/text.ts";
import { readDraft } from "#content/recommendation/draft.ts";
import { fitted } from "#content/contract/problem.ts";
import { DraftBody, draftExample } from "#content/contract/recommendation.ts";

const faults = (given: object) => {
  const body = fitted(DraftBody, { ...draftExample, ...given });
  if (!body.ok) return body.failure.map((wrong) => ({ ...wrong, claims: false }));
  const read = readDraft(body.value);
  return read.ok ? [] : read.failure;
};

test("the example of the description can be used", () => {
  expect(readDraft(draftExample)).toMatchObject({
    ok: true,
    value: {
      slug: "hope-kitchen",
      normalised: '["food security","school meals"]',
      agent_id: "research-bot-7",
      sensitive_claims: [],
      test_data: false,
    },
  });
});

test("texts are cleaned, phrases that say the same are one, and the name is the id when absent", () => {
  const read = readDraft({
    ...draftExample,
    recommended_for: [" donors interested  in\nwells", "Wells", "schools"],
    agent_id: " Bot-A ",
    agent_name: " ",
  });
  expect(read).toMatchObject({
    ok: true,
    value: {
      recommended_for: ["donors interested in wells", "schools"],
      agent_id: "bot-a",
      agent_name: "Bot-A",
    },
  });
});

const wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";

describe("a draft cannot be used", () => {
  test.each([
    [{ slug: undefined }, "slug", "slug is required"],
    [{ slug: "" }, "slug", "slug is required"],
    [{ recommended_for: undefined }, "recommended_for", "array of 1 to 10"],
    [{ recommended_for: [] }, "recommended_for", "array of 1 to 10"],
    [{ recommended_for: "wells" }, "recommended_for", "array of 1 to 10"],
    [{ recommended_for: Array(11).fill("wells") }, "recommended_for", ""],
    [{ recommended_for: ["wells", 7] }, "recommended_for[1]", ""],
    [{ recommended_for: ["wells", " "] }, "recommended_for[1]", "empty"],
    [{ recommended_for: ["🐟"] }, "recommended_for[0]", "letters or digits"],
    [{ recommended_for: ["x".repeat(161)] }, "recommended_for[0]", "at most 160"],
    [{ why_recommended: undefined }, "why_recommended", "required"],
    [{ why_recommended: "x".repeat(601) }, "why_recommended", "at most 600"],
    [{ why_recommended: "a\u202Eb" }, "why_recommended", "U+202E"],
    [{ why_recommended: "See https://evil.example now." }, "why_recommended", "source_url"],
    [{ why_recommended: "Write to me@mail.test." }, "why_recommended", "source_url"],
    [{ why_recommended: "Look at evil.com for more" }, "why_recommended", "source_url"],
    [{ why_recommended: `Pay ${wallet}` }, "why_recommended", "wallet"],
    [{ source_url: undefined }, "source_url", "required"],
    [{ source_url: null }, "source_url", "required"],
    [{ source_url: "" }, "source_url", "required"],
    [{ source_url: "ftp://x.example" }, "source_url", "http(s)"],
    [{ source_url: "javascript:alert(1)" }, "source_url", "http(s)"],
    [{ agent_id: undefined }, "agent_id", "required"],
    [{ agent_id: "  " }, "agent_id", "empty"],
    [{ agent_name: "a\u0000b" }, "agent_name", "U+0000"],
  ])("%j: %s, %p", (given, path, says) => {
    const message = expect.stringContaining(says);
    expect(faults(given)[0]).toMatchObject({ path, claims: false, message });
  });

  test("because it claims too much: the phrase and restrained words are named", () => {
    const message = expect.stringMatching(/"most effective" claims too much: say .+/);
    expect(faults({ why_recommended: "The most effective kitchen." })).toMatchObject([
      { path: "why_recommended", message, claims: true },
    ]);
    expect(faults({ recommended_for: ["the best kitchens"] })[0]).toMatchObject({ claims: true });
  });

  test("whatever it is", () => {
    for (const body of [null, "x", 7, [], {}])
      expect(DraftBody.safeParse(body).success).toBe(false);
  });
});

test("an operator may name a web address", () => {
  const text = { recommended_for: ["wells"], why_recommended: "Reports on wells.example yearly." };
  expect(checkPickText(text, { byAgent: false }).ok).toBe(true);
  expect(checkPickText(text, { byAgent: true }).ok).toBe(false);
  expect(checkPickText({ ...text, recommended_for: [] }, { byAgent: false }).ok).toBe(false);
});

describe("a sensitive claim", () => {
  test.each([
    ["donors interested in measurable impact", ["impact"]],
    ["An EFFECTIVE, evidence-based programme", ["effectiveness", "effectiveness"]],
    ["saves  lives every day", ["impact"]],
    ["cost–effective meals", ["effectiveness"]],
    ["cooks meals; impacted by floods", []],
    ["affective care, curelty", []],
  ])("in %p: %j", (text, claims) => {
    expect(sensitiveClaims(text).map(({ claim }) => claim)).toEqual(claims as never);
  });

  test("is told with the draft, each phrase once", () => {
    const read = readDraft({ ...draftExample, recommended_for: ["impact", "Impact per dollar"] });
    expect(read).toMatchObject({ ok: true, value: { sensitive_claims: ["impact", "per dollar"] } });
  });
});
