import { insertMany } from "#content/store/query.ts";
import type { Store } from "#content/store/open.ts";

const perTransaction = 5_000;
const fields = ["city", "region", "website", "founded_year", "contact_email"] as const;
const columns = [
  "nonprofit_id",
  "field",
  "field_type",
  "value",
  "normalised_value",
  "agent_id",
  "agent_name",
  "status",
  "audit_only",
  "reason",
  "created_at",
  "decided_at",
];

/** Stores rejected and audit-only submissions of many agents, spread over all profiles, as years of use would leave. */
export async function storeMany(store: Store, total: number, onStored: (done: number) => void) {
  const { rows } = await store.raw.execute("SELECT max(id) AS newest FROM nonprofits");
  const profiles = Number(rows[0]?.["newest"] ?? 1);
  for (let done = 0; done < total; done += perTransaction) {
    const count = Math.min(perTransaction, total - done);
    const batch = Array.from({ length: count }, (_, at) => submissionAt(done + at, profiles));
    await store.write((tx) => insertMany(tx, "submissions", columns, batch));
    onStored(done + count);
  }
}

function submissionAt(at: number, profiles: number) {
  const nonprofitId = 1 + ((at * 7_919) % profiles);
  const field = fields[at % fields.length] ?? "city";
  const value = `Stored value ${at % 1_000}`;
  const agent = `stored-agent-${at % 50_000}`;
  const rejected = at % 2 === 0;
  return [
    nonprofitId,
    field,
    "structured",
    value,
    value,
    agent,
    agent,
    rejected ? "rejected" : "pending",
    rejected ? 0 : 1,
    rejected ? "another value won consensus" : null,
    1_700_000_000_000 + at,
    rejected ? 1_700_000_000_000 + at : null,
  ];
}
