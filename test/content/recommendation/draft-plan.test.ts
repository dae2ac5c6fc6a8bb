import { describe, expect, test } from "bun:test";
import { type DraftCase, planDraft } from "#content/recommendation/draft.ts";
import type { StoredDraft } from "#content/recommendation/draft-store.ts";

const now = new Date("2026-11-01T12:00:00Z");
const words = {
  slug: "hope-kitchen",
  recommended_for: ["Schools!", "warm meals in Oslo"],
  why_recommended: "It serves 300 meals a day.",
  normalised: "schools, warm meals in oslo",
  source_url: "https://hope-kitchen.example.com",
  sensitive_claims: [],
};

const stored = (over: Partial<StoredDraft> = {}): StoredDraft => ({
  ...words,
  id: 1,
  nonprofit_id: 7,
  phase: 3,
  test_data: 0,
  agent_id: "a",
  agent_name: "a",
  network: "4:a",
  created_at: now.getTime() - 1_000,
  status: "pending",
  reason: null,
  decided_by: null,
  decided_at: null,
  ...over,
});

/** What agent b proposes from network 4:b. */
const fromB = (over: Partial<DraftCase> = {}): DraftCase => ({
  job: {
    request: {
      ...words,
      recommended_for: ["warm meals in Oslo", "For donors interested in schools"],
      agent_id: "b",
      agent_name: "B",
      test_data: false,
    },
    phase: 3,
    mode: "agents",
    network: "4:b",
    secret: null,
    idempotencyKey: null,
    now,
  },
  nonprofit_id: 7,
  agent_name: "B",
  otherAgents: 0,
  ofNetwork: 0,
  ownDrafts: [],
  waitingDrafts: [],
  live: null,
  isRefused: false,
  ...over,
});

const ownOther = { id: 3, agent_id: "b", network: "4:b", normalised: "food" };

const ownSame = { ...ownOther, normalised: words.normalised };
const waitingDrafts = [stored({ test_data: 1 }), stored({ id: 2, agent_id: "c" })];
const live = { by_consensus: true, normalised_value: words.normalised };

describe("a draft of agent b", () => {
  test.each<[title: string, draft: Partial<DraftCase>, becomes: object]>([
    [
      "waits when it is the first",
      {},
      {
        closed: null,
        draft: { agent_name: "B", status: "pending", decided_by: null, created_at: now.getTime() },
        promotion: null,
        outcome: { status: "pending", confidence: 1 },
      },
    ],
    ["goes by the name that it may have", { agent_name: "b" }, { draft: { agent_name: "b" } }],
    [
      "makes a recommendation of the intents that both sent alike, and of no agent's prose",
      { waitingDrafts, otherAgents: 2 },
      {
        draft: { status: "applied", decided_by: "consensus" },
        promotion: {
          text: {
            recommended_for: ["schools", "warm meals in Oslo"],
            why_recommended:
              "Distinct agents named it for these donor intents, each with a source.",
          },
          winner: { id: 2 },
          agreeingDrafts: [{ id: 2 }],
        },
        outcome: { status: "applied", confidence: 3 },
      },
    ],
    [
      "that waits already and is agreed on by now is closed, and none is stored",
      { ownDrafts: [stored(ownSame)], live, otherAgents: 2 },
      { closed: { id: 3, closing: { status: "applied" } }, draft: 3, promotion: null },
    ],
    [
      "replaces its other one",
      { ownDrafts: [stored(ownOther)], ofNetwork: 5 },
      {
        closed: { id: 3, closing: { status: "rejected", decided_by: "agent" } },
        draft: { status: "pending" },
      },
    ],
    [
      "that was applied before is answered with that",
      { ownDrafts: [stored({ ...ownSame, status: "applied" })] },
      { closed: null, draft: 3, outcome: { decision: { kind: "applied" } } },
    ],
  ])("%s", (_, draft, value) => {
    expect(planDraft(fromB(draft))).toMatchObject({ ok: true, value });
  });

  test.each([
    ["Savings in Café Noël", "savings in café Noël", "Savings in Café Noël"],
    ["Savings in Café Noël", " Savings in Cafe\u0301 Noe\u0308l", "Savings in Café Noël"],
    ["Children's savings", "childrens savings", "children s savings"],
    ["Schools!", "Schools", "schools"],
  ])("that agrees with %p as %p shows %p", (earliest, phrase, shown) => {
    const fromOther = fromB({ waitingDrafts: [stored({ recommended_for: [earliest] })] });
    fromOther.job.request.recommended_for = [phrase];
    const text = { recommended_for: [shown] };
    expect(planDraft(fromOther)).toMatchObject({ ok: true, value: { promotion: { text } } });
  });

  test.each<[title: string, draft: Partial<DraftCase>, failure: object]>([
    [
      "does not replace one from another network",
      { ownDrafts: [stored({ ...ownOther, network: "4:c" })] },
      { kind: "pending_from_another_network", path: "draft" },
    ],
    [
      "finds no room where enough of its network wait",
      { ofNetwork: 5 },
      { kind: "draft_queue_full" },
    ],
  ])("%s", (_, draft, failure) => {
    expect(planDraft(fromB(draft))).toMatchObject({ ok: false, failure });
  });
});
