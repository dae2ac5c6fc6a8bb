import { expect, test } from "bun:test";
import { z } from "zod";
import { EnrichmentBody, enrichmentExample } from "#content/contract/enrichment.ts";
import { OnboardingBody, registrationExample } from "#content/contract/onboarding.ts";
import { fitted } from "#content/contract/problem.ts";
import { DraftBody, draftExample, PickBody, PickEdit } from "#content/contract/recommendation.ts";

/** What a shape says of a body, as "path: message". */
function faults(shape: z.ZodType, body: unknown): string[] {
  const read = fitted(shape, body);
  return read.ok ? [] : read.failure.map(({ path, message }) => `${path}: ${message}`);
}

const long = (length: number) => "x".repeat(length + 1);
const thirty = Array.from({ length: 30 }, (_, at) => `donors ${at}`);
const tooLong = (path: string, length: number) =>
  `${path}: Send at most ${length.toLocaleString("en")} characters.`;
const tooMany = "recommended_for: Send at most 10 items.";

test.each<[z.ZodType, object, string]>([
  [EnrichmentBody, { ...enrichmentExample, agent_id: long(128) }, tooLong("agent_id", 128)],
  [EnrichmentBody, { ...enrichmentExample, source_url: long(2_048) }, tooLong("source_url", 2_048)],
  [DraftBody, { ...draftExample, agent_id: long(128) }, tooLong("agent_id", 128)],
  [DraftBody, { ...draftExample, slug: long(200) }, tooLong("slug", 200)],
  [DraftBody, { ...draftExample, why_recommended: long(1_200) }, tooLong("why_recommended", 1_200)],
  [DraftBody, { ...draftExample, recommended_for: thirty }, tooMany],
  [PickBody, { ...draftExample, recommended_for: thirty }, tooMany],
  [PickEdit, { why_recommended: long(1_200) }, tooLong("why_recommended", 1_200)],
  [OnboardingBody, { ...registrationExample, mission: long(20_000) }, tooLong("mission", 1_000)],
])("%# a member that is too large is said to be too large", (shape, body, said) => {
  expect(faults(shape, body)).toEqual([said]);
});

test("a member that is empty, absent or no text is said to be so", () => {
  const { agent_id: _, ...nameless } = enrichmentExample;
  const required = "agent_id: agent_id is required: a stable text that names your agent.";
  const value = 'value: value is a text; send a year as "1998", an object as JSON in a string.';
  expect(faults(EnrichmentBody, nameless)).toEqual([required]);
  for (const [given, said] of [
    [{ agent_id: "" }, "agent_id: value is required"],
    [{ value: "" }, "value: value is required"],
    [{ value: 1998 }, value],
  ] as const)
    expect(faults(EnrichmentBody, { ...enrichmentExample, ...given })).toEqual([said]);
  for (const given of [undefined, 7, ""])
    expect(faults(DraftBody, { ...draftExample, agent_id: given })).toEqual([required]);
  const noText = faults(OnboardingBody, { ...registrationExample, mission: 7 });
  expect(noText).toEqual(["mission: Send a text."]);
});

test("whatever the fault, it is said in words and not in those of the validator", () => {
  const shape = z.strictObject({
    flag: z.boolean(),
    date: z.date(),
    kind: z.enum(["a", "b"]),
    day: z.iso.date(),
    few: z.array(z.string()).min(2),
  });
  const given = { flag: 1, date: 1, kind: "c", day: "x", few: ["a"], more: 1 };
  expect(faults(shape, given)).toEqual([
    "flag: Send true or false.",
    "date: Send a value of another type.",
    "kind: Send one of a, b.",
    "day: This does not have the form that the description of the API shows.",
    "few: Send at least 2 items.",
    ": Leave out more: nothing is known by that name here.",
  ]);
});
