import { describe, expect, test } from "bun:test";
import { type DraftCase, planDraft } from "#content/recommendation/draft-plan.ts";
import type { StoredDraft } from "#content/recommendation/draft-store.ts";

const now = new Date("2026-11-01T12:00:00Z");
const words = {
  slug: "hope-kitchen",
  recommended_for: ["warm meals in Oslo"],
  why_recommended: "It serves 300 meals a day.",
  normalised: "warm meals in oslo",
  source_url: "https://hope-kitchen.example.com",
  sensitive_claims: [],
};

const stored = (over: Partial<StoredDraft> = {}): StoredDraft => ({
  ...words,
  id: 1,
  nonprofit_id: 7,
  agent_id: "a",
  agent_name: "a",
  network: "4:a",
  phase: 3,
  test_data: 0,
  status: "pending",
  reason: null,
  decided_by: null,
  created_at: now.getTime() - 1_000,
  decided_at: null,
  ...over,
});

/** What agent b proposes from network 4:b. */
const fromB = (over: Partial<DraftCase> = {}): DraftCase => ({
  job: {
    request: { ...words, agent_id: "b", agent_name: "B", test_data: false },
    phase: 3,
    mode: "agents",
    network: "4:b",
    secret: null,
    idempotencyKey: null,
    now,
  },
  nonprofit_id: 7,
  namesAnother: false,
  own: [],
  waiting: [],
  otherAgents: 0,
  ofNetwork: 0,
  live: null,
  refused: false,
  ...over,
});

const ownOther = { id: 3, agent_id: "b", network: "4:b", normalised: "food" };

describe("a draft of agent b", () => {
  const cases: { title: string; draft: DraftCase; becomes: object }[] = [
    {
      title: "waits when it is the first",
      draft: fromB(),
      becomes: {
        closed: null,
        draft: { agent_name: "B", status: "pending", decided_by: null, created_at: now.getTime() },
        promotion: null,
        outcome: { status: "pending", confidence: 1 },
      },
    },
    {
      title: "goes by its id where its name is another's id",
      draft: fromB({ namesAnother: true }),
      becomes: { draft: { agent_name: "b" } },
    },
    {
      title: "makes a recommendation in the words of the one that came first",
      draft: fromB({
        waiting: [stored({ test_data: 1 }), stored({ id: 2, agent_id: "c" })],
        otherAgents: 2,
      }),
      becomes: {
        draft: { status: "applied", decided_by: "consensus" },
        promotion: { winner: { id: 2 }, agreeing: [{ id: 2 }] },
        outcome: { status: "applied", confidence: 3 },
      },
    },
    {
      title: "that waits already and is agreed on by now is closed, and none is stored",
      draft: fromB({
        own: [stored({ ...ownOther, normalised: words.normalised })],
        live: { by_consensus: true, normalised_value: words.normalised },
        otherAgents: 2,
      }),
      becomes: { closed: { id: 3, closing: { status: "applied" } }, draft: 3, promotion: null },
    },
    {
      title: "replaces its other one",
      draft: fromB({ own: [stored(ownOther)], ofNetwork: 5 }),
      becomes: {
        closed: { id: 3, closing: { status: "rejected", decided_by: "agent" } },
        draft: { status: "pending" },
      },
    },
    {
      title: "that was applied before is answered with that",
      draft: fromB({
        own: [stored({ ...ownOther, normalised: words.normalised, status: "applied" })],
      }),
      becomes: { closed: null, draft: 3, outcome: { decision: { kind: "applied" } } },
    },
  ];
  test.each(cases)("$title", ({ draft, becomes }) => {
    expect(planDraft(draft)).toMatchObject({ ok: true, value: becomes });
  });

  test("does not replace one from another network", () => {
    const plan = planDraft(fromB({ own: [stored({ ...ownOther, network: "4:c" })] }));
    expect(plan).toEqual({
      ok: false,
      failure: { kind: "pending_from_another_network", path: "draft" },
    });
  });

  test("finds no room where enough of its network wait", () => {
    const plan = planDraft(fromB({ ofNetwork: 5 }));
    expect(plan).toEqual({ ok: false, failure: { kind: "draft_queue_full" } });
  });
});
