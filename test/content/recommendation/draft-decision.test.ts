import { expect, test } from "bun:test";
import type { PendingVote } from "#content/enrichment/consensus.ts";
import { decideDraft, type DraftDecision, draftNote } from "#content/recommendation/draft.ts";

type DraftSituation = Parameters<typeof decideDraft>[0];
const vote = (agent_id: string, normalised_value = "wells", network: string | null = null) => ({
  agent_id,
  normalised_value,
  network,
});
const waits = (id: number, said: ReturnType<typeof vote>, counts = true): PendingVote => ({
  id,
  ...said,
  counts,
});
const alone: DraftSituation = {
  phase: 3,
  vote: vote("b"),
  mode: "agents",
  pendingVotes: [],
  live: null,
  sensitive: false,
  test_data: false,
  isRefused: false,
};
const operator = (because: string, confidence = 1) =>
  ({ kind: "operator", because, confidence }) as DraftDecision;
const awaiting = (confidence: number): DraftDecision => ({ kind: "awaiting", confidence });
const promoted = (confidence: number, winner: number): DraftDecision => ({
  kind: "promoted",
  confidence,
  winner,
});
const live = (normalised_value: string) => ({ live: { by_consensus: true, normalised_value } });
const byHand = { live: { by_consensus: false, normalised_value: "wells" } };
/** One draft of agent a waits. */
const a1 = (said = vote("a"), counts = true) => ({ pendingVotes: [waits(1, said, counts)] });
const three = [waits(7, vote("c")), waits(3, vote("a")), waits(1, vote("x", "schools"))];
const home = vote("a", "wells", "n1");
const near = vote("b", "wells", "n1");
const strict = { mode: "networks", ...a1(home) } as const;

const cases: [title: string, given: Partial<DraftSituation>, becomes: DraftDecision][] = [
  ["in phase 2 a draft waits for the operator", { phase: 2 }, operator("phase_2")],
  ["in phase 2 agreement changes nothing", { phase: 2, ...a1() }, operator("phase_2", 2)],
  ["in phase 3 the first agent waits", {}, awaiting(1)],
  ["agents that agree promote the earliest one's words", { pendingVotes: three }, promoted(3, 3)],
  ["other intents do not agree", a1(vote("a", "schools")), awaiting(1)],
  ["the same agent is one vote", a1(vote("b")), awaiting(1)],
  [
    "obvious test data waits for the operator, whoever agrees",
    { test_data: true, ...a1() },
    operator("test_data", 2),
  ],
  [
    "a sensitive draft waits for the operator, whoever agrees",
    { sensitive: true, ...a1() },
    operator("sensitive_claim", 2),
  ],
  ["a sensitive draft counts for no other", a1(vote("a"), false), awaiting(2)],
  [
    "what is recommended is never replaced by agreement",
    { ...a1(), ...byHand },
    operator("recommended_already", 2),
  ],
  ["nor is what other agents agreed on", live("schools"), operator("recommended_already")],
  ["one more agent with what was agreed on says so", live("wells"), { kind: "corroborates" }],
  ["but not in phase 2", { phase: 2, ...live("wells") }, operator("phase_2")],
  [
    "nor with a sensitive claim",
    { sensitive: true, ...live("wells") },
    operator("sensitive_claim"),
  ],
  [
    "what an operator refused needs an operator",
    { isRefused: true, ...a1() },
    operator("refused_before", 2),
  ],
  ["strict: two agents on one network are one vote", { ...strict, vote: near }, awaiting(2)],
  ["strict: an unknown network is none", strict, awaiting(2)],
  ["strict: two networks agree", { ...strict, vote: vote("b", "wells", "n2") }, promoted(2, 1)],
];

test.each(cases)("%s", (_, given, becomes) => {
  expect(decideDraft({ ...alone, ...given })).toEqual(becomes);
});

test.each([
  [{ kind: "awaiting", confidence: 1 }, "agents", /second agent .* \(1 of 2\)/],
  [{ kind: "awaiting", confidence: 2 }, "networks", /from another network \(2 of 2\)/],
  [{ kind: "promoted", confidence: 2, winner: 1 }, "agents", /^2 distinct agents/],
  [operator("phase_2"), "agents", /phase 2/],
] as const)("the sender is told of %j in mode %s: %p", (decision, mode, says) => {
  expect(draftNote(decision as DraftDecision, mode)).toMatch(says);
});
