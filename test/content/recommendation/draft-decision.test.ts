import { describe, expect, test } from "bun:test";
import type { PendingVote } from "#content/enrichment/consensus.ts";
import { decideDraft, type DraftDecision, draftNote } from "#content/recommendation/draft.ts";

type DraftSituation = Parameters<typeof decideDraft>[0];
const vote = (agent_id: string, normalised_value = "wells", network: string | null = null) => ({
  agent_id,
  normalised_value,
  network,
});
const waits = (id: number, said: ReturnType<typeof vote>, sensitive = false): PendingVote => ({
  id,
  ...said,
  counts: !sensitive,
});
const alone: DraftSituation = {
  phase: 3,
  mine: vote("b"),
  sensitive: false,
  test_data: false,
  waiting: [],
  live: null,
  refused: false,
  mode: "agents",
};
const operator = (because: string, confidence = 1) =>
  ({ kind: "operator", because, confidence }) as DraftDecision;

const cases: [title: string, given: Partial<DraftSituation>, becomes: DraftDecision][] = [
  ["in phase 2 a draft waits for the operator", { phase: 2 }, operator("phase_2")],
  [
    "in phase 2 agreement changes nothing",
    { phase: 2, waiting: [waits(1, vote("a"))] },
    operator("phase_2", 2),
  ],
  ["in phase 3 the first agent waits", {}, { kind: "awaiting", confidence: 1 }],
  [
    "a second agent with the same intents promotes, in the earliest one's words",
    { waiting: [waits(7, vote("c")), waits(3, vote("a")), waits(1, vote("x", "schools"))] },
    { kind: "promoted", confidence: 3, winner: 3 },
  ],
  [
    "other intents do not agree",
    { waiting: [waits(1, vote("a", "schools"))] },
    { kind: "awaiting", confidence: 1 },
  ],
  [
    "the same agent is one vote",
    { waiting: [waits(1, vote("b"))] },
    { kind: "awaiting", confidence: 1 },
  ],
  [
    "obvious test data waits for the operator, whoever agrees",
    { test_data: true, waiting: [waits(1, vote("a"))] },
    operator("test_data", 2),
  ],
  [
    "a sensitive draft waits for the operator, whoever agrees",
    { sensitive: true, waiting: [waits(1, vote("a"))] },
    operator("sensitive_claim", 2),
  ],
  [
    "a sensitive draft counts for no other",
    { waiting: [waits(1, vote("a"), true)] },
    { kind: "awaiting", confidence: 2 },
  ],
  [
    "what is recommended is never replaced by agreement",
    { waiting: [waits(1, vote("a"))], live: { by_consensus: false, normalised_value: "wells" } },
    operator("recommended_already", 2),
  ],
  [
    "nor is what other agents agreed on",
    { live: { by_consensus: true, normalised_value: "schools" } },
    operator("recommended_already"),
  ],
  [
    "one more agent with what was agreed on says so",
    { live: { by_consensus: true, normalised_value: "wells" } },
    { kind: "corroborates" },
  ],
  [
    "but not in phase 2",
    { phase: 2, live: { by_consensus: true, normalised_value: "wells" } },
    operator("phase_2"),
  ],
  [
    "nor with a sensitive claim",
    { sensitive: true, live: { by_consensus: true, normalised_value: "wells" } },
    operator("sensitive_claim"),
  ],
  [
    "what an operator refused needs an operator",
    { refused: true, waiting: [waits(1, vote("a"))] },
    operator("refused_before", 2),
  ],
  [
    "in the strict mode two agents on one network are one vote",
    {
      mode: "networks",
      mine: vote("b", "wells", "n1"),
      waiting: [waits(1, vote("a", "wells", "n1"))],
    },
    { kind: "awaiting", confidence: 2 },
  ],
  [
    "in the strict mode an unknown network is none",
    { mode: "networks", mine: vote("b"), waiting: [waits(1, vote("a", "wells", "n1"))] },
    { kind: "awaiting", confidence: 2 },
  ],
  [
    "in the strict mode two networks agree",
    {
      mode: "networks",
      mine: vote("b", "wells", "n2"),
      waiting: [waits(1, vote("a", "wells", "n1"))],
    },
    { kind: "promoted", confidence: 2, winner: 1 },
  ],
];

test.each(cases)("%s", (_, given, becomes) => {
  expect(decideDraft({ ...alone, ...given })).toEqual(becomes);
});

describe("the sender is told", () => {
  test.each([
    [{ kind: "awaiting", confidence: 1 }, "agents", /second agent .* \(1 of 2\)/],
    [{ kind: "awaiting", confidence: 2 }, "networks", /from another network \(2 of 2\)/],
    [{ kind: "promoted", confidence: 2, winner: 1 }, "agents", /^2 distinct agents/],
    [{ kind: "corroborates" }, "agents", /already/],
    [operator("phase_2"), "agents", /phase 2/],
    [operator("sensitive_claim"), "agents", /impact or effectiveness/],
    [operator("recommended_already"), "agents", /never replaces/],
    [operator("refused_before"), "agents", /refused or removed/],
  ] as const)("of %j in mode %s: %p", (decision, mode, says) => {
    expect(draftNote(decision as DraftDecision, mode)).toMatch(says);
  });
});
