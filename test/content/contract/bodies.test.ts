import { expect, test } from "bun:test";
import type { z } from "zod";
import { EnrichmentBody, enrichmentExample } from "#content/contract/enrichment.ts";
import { OnboardingBody, registrationExample } from "#content/contract/onboarding.ts";
import { wrongsOf } from "#content/contract/problem.ts";
import { DraftBody, draftExample, PickBody, PickEdit } from "#content/contract/recommendation.ts";

/** What a shape says of a body, as "path: message". */
function faults(shape: z.ZodType, body: unknown): string[] {
  const read = shape.safeParse(body);
  return read.success ? [] : wrongsOf(read.error).map(({ path, message }) => `${path}: ${message}`);
}

const long = (length: number) => "x".repeat(length + 1);
const thirty = Array.from({ length: 30 }, (_, at) => `donors ${at}`);
const tooLong = (path: string, length: number) =>
  `${path}: Too big: expected string to have <=${length} characters`;
const tooMany = "recommended_for: Too big: expected array to have <=10 items";

test.each<[z.ZodType, object, string]>([
  [EnrichmentBody, { ...enrichmentExample, agent_id: long(128) }, tooLong("agent_id", 128)],
  [EnrichmentBody, { ...enrichmentExample, source_url: long(2_048) }, tooLong("source_url", 2_048)],
  [DraftBody, { ...draftExample, agent_id: long(128) }, tooLong("agent_id", 128)],
  [DraftBody, { ...draftExample, slug: long(200) }, tooLong("slug", 200)],
  [DraftBody, { ...draftExample, why_recommended: long(1_200) }, tooLong("why_recommended", 1_200)],
  [DraftBody, { ...draftExample, recommended_for: thirty }, tooMany],
  [PickBody, { ...draftExample, recommended_for: thirty }, tooMany],
  [PickEdit, { why_recommended: long(1_200) }, tooLong("why_recommended", 1_200)],
  [OnboardingBody, { ...registrationExample, mission: long(20_000) }, tooLong("mission", 20_000)],
])("%# a member that is too large is said to be too large", (shape, body, said) => {
  expect(faults(shape, body)).toEqual([said]);
});

test("a member that is empty, absent or no text is said to be so", () => {
  const { agent_id: _, ...nameless } = enrichmentExample;
  const required = "agent_id: agent_id is required: a stable text that names your agent.";
  const value = 'value: value is a text; send a year as "1998", an object as JSON in a string.';
  expect(faults(EnrichmentBody, nameless)).toEqual([required]);
  expect(faults(EnrichmentBody, { ...nameless, agent_id: "" })).toEqual([
    "agent_id: Too small: expected string to have >=1 characters",
  ]);
  expect(faults(EnrichmentBody, { ...enrichmentExample, value: 1998 })).toEqual([value]);
  expect(faults(EnrichmentBody, { ...enrichmentExample, value: "" })).toEqual([
    "value: Too small: expected string to have >=1 characters",
  ]);
  for (const given of [undefined, 7, ""]) {
    expect(faults(DraftBody, { ...draftExample, agent_id: given })).toEqual([required]);
  }
  expect(faults(OnboardingBody, { ...registrationExample, mission: 7 })).toEqual([
    "mission: This is a text.",
  ]);
});
