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
  network: "4:b",
  value: "Oslo",
  normalised_value: "oslo",
  source_url: "https://hope-kitchen.example.com",
  status: "pending",
  audit_only: 0,
  confidence: 1,
  test_data: 0,
  reason: null,
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
    submission: columns,
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
      { kind: "reject", rejection: { id: 2, winning_value: null } },
      { kind: "confidence", of: { normalised_value: "bergen", confidence: 1 } },
      { kind: "insert", submission: { value: "Oslo", confidence: 1 } },
    ]);
  });

  test.each([
    ["city", "bergen"],
    // An address, whether it is guessed right or not.
    ["contact_email", "oslo"],
    ["contact_email", "bergen"],
  ] as const)("a %s that waits from another network stays: %s", (field, normalised_value) => {
    const votes = [submission({ field, network: "4:c", normalised_value })];
    const refusal = { kind: "pending_from_another_network", path: field };
    expect(stepsOf(fromB({ field }, { votes }))).toEqual([refusal]);
  });

  test("a secret address that it has already logged is answered without a write", () => {
    const field = "contact_email";
    const own = submission({ id: 5, field, audit_only: 1, confidence: 3 });
    const plan = planOf([fromB({ field }, { live: "post@example.com", own })]);
    const items = [{ steps: [], id: 5, live: null, item: { confidence: 1 } }];
    expect(plan).toMatchObject({ ok: true, value: { bytes: 0, items } });
  });

  test("what waits and is sent again still waits, and takes the network of one who has its secret", () => {
    const own = submission({ id: 5, network: null });
    const again = fromB({}, { own, votes: [own] });
    expect(stepsOf(again)).toEqual([]);
    const withSecret = { ...again, job: { ...again.job, secret: "digest" } };
    expect(stepsOf(withSecret)).toEqual([{ kind: "network", id: 5, network: "4:b" }]);
  });
});
