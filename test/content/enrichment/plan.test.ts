import { describe, expect, test } from "bun:test";
import { planOf, type SubmissionCase } from "#content/enrichment/plan.ts";
import type { StoredSubmission } from "#content/enrichment/submission-store.ts";

const now = new Date("2026-11-01T12:00:00Z");

const submission = (over: Partial<StoredSubmission> = {}): StoredSubmission => ({
  id: 1,
  nonprofit_id: 1,
  field: "city",
  field_type: "structured",
  agent_id: "b",
  agent_name: "b",
  value: "Oslo",
  normalised_value: "oslo",
  source_url: "https://hope-kitchen.example.com",
  network: "4:b",
  status: "pending",
  audit_only: 0,
  confidence: 1,
  reason: null,
  test_data: 0,
  winning_value: null,
  decided_at: null,
  applied_at: null,
  created_at: now.getTime(),
  ...over,
});

/** What agent b sends, from network 4:b, of a field of which `state` is known. */
function fromB(
  fresh: Partial<StoredSubmission>,
  state: Partial<SubmissionCase["state"]>,
): SubmissionCase {
  const { id: _, ...columns } = submission(fresh);
  return {
    job: { mode: "agents", network: "4:b", secret: null, idempotencyKey: null, now },
    agent_key: null,
    fresh: columns,
    state: {
      live: null,
      own: null,
      votes: [],
      agent_count: 0,
      refused: null,
      any_rejected: 0,
      ...state,
    },
  };
}

const stepsOf = (submissions: SubmissionCase): object[] => {
  const plan = planOf([submissions]);
  return plan.ok ? (plan.value.items[0]?.steps ?? []) : [plan.failure];
};

describe("what a submission does", () => {
  test("an agent's other value is taken back, also from the count of those that sent it too", () => {
    const bergen = { value: "Bergen", normalised_value: "bergen", confidence: 2 };
    const votes = [
      submission({ id: 1, agent_id: "a", network: "4:a", ...bergen }),
      submission({ id: 2, ...bergen }),
    ];
    expect(stepsOf(fromB({}, { votes }))).toMatchObject([
      { kind: "reject", rejection: { id: 2, winning_value: "Oslo" } },
      { kind: "confidence", of: { normalised_value: "bergen", confidence: 1 } },
      { kind: "insert", submission: { value: "Oslo", confidence: 1 } },
    ]);
  });

  test("an agent's other value from another network stays, and nothing is written", () => {
    const votes = [submission({ network: "4:c", value: "Bergen", normalised_value: "bergen" })];
    expect(stepsOf(fromB({}, { votes }))).toEqual([
      { kind: "pending_from_another_network", path: "city" },
    ]);
  });

  test("an address is not replaced from another network, whether it is guessed right or not", () => {
    const field = "contact_email";
    const waiting = submission({ field, network: "4:c" });
    for (const votes of [[waiting], [{ ...waiting, normalised_value: "bergen" }]]) {
      expect(stepsOf(fromB({ field }, { votes }))).toEqual([
        { kind: "pending_from_another_network", path: field },
      ]);
    }
  });

  test("a secret address that it has already logged is answered without a write", () => {
    const field = "contact_email";
    const own = submission({ id: 5, field, audit_only: 1, confidence: 3 });
    const plan = planOf([fromB({ field }, { live: "post@example.com", own })]);
    expect(plan).toMatchObject({
      ok: true,
      value: { bytes: 0, items: [{ steps: [], id: 5, live: null, item: { confidence: 1 } }] },
    });
  });

  test("what waits and is sent again still waits, and takes the network of one who has its secret", () => {
    const own = submission({ id: 5, network: null });
    const again = fromB({}, { own, votes: [own] });
    expect(stepsOf(again)).toEqual([]);
    expect(stepsOf({ ...again, job: { ...again.job, secret: "digest" } })).toEqual([
      { kind: "network", id: 5, network: "4:b" },
    ]);
  });
});
