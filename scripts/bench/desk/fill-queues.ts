import type { Store } from "#content/store/open.ts";

/** Numbers 1 to ?1, for statements that make many rows at once. */
const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)`;
/** A profile for each number. */
const profile = `(SELECT id FROM nonprofits WHERE id = 1 + (i * 7919) % ?2)`;

const statements: readonly string[] = [
  // Prose.
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, source_url, agent_id, agent_name, status, created_at)
   SELECT ${profile}, 'mission', 'prose', 'We do good work number ' || i || '. ' || substr(hex(randomblob(200)), 1, 300), 'x', 'https://source.example/' || i, 'agent-' || (i % 997), 'Agent', 'pending', 1700000000000 + i FROM n`,
  // Contested: two values for one field.
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, created_at)
   SELECT i, 'region', 'structured', 'One', 'one', 'agent-a', 'A', 'pending', 1700000000000 + i FROM n`,
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, created_at)
   SELECT i, 'region', 'structured', 'Two', 'two', 'agent-b', 'B', 'pending', 1700000000000 + i FROM n`,
  `${numbers} INSERT INTO pending_fields (nonprofit_id, field, pending, list_order) SELECT i, 'region', 2, i FROM n WHERE true
   ON CONFLICT (nonprofit_id, field) DO UPDATE SET pending = 2`,
  // Contradicted: two agents against what agents made live.
  `${numbers} INSERT INTO provenance (nonprofit_id, field, set_by, source, agents, applied_at)
   SELECT i, 'city', 'consensus', 'agents', '["A","B"]', 1700000000000 FROM n WHERE true
   ON CONFLICT (nonprofit_id, field) DO UPDATE SET set_by = 'consensus'`,
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, audit_only, confidence, created_at)
   SELECT i, 'city', 'structured', 'Elsewhere', 'elsewhere', 'agent-c', 'C', 'pending', 1, 2, 1700000000000 + i FROM n`,
  // Registrations, whose names are as near to each other as names get.
  `${numbers} INSERT INTO onboarding_submissions (id, type, nonprofit_id, request, request_digest, status_digest, status, created_at)
   SELECT printf('%032x', i), 'claim', i, json_object('claim_slug', null, 'name', null, 'country_code', null, 'contact_email', 'office' || i || '@claimer.example', 'contact_name', null, 'usdc_wallet', null, 'mission', 'We do good.', 'website', null, 'city', 'Oslo', 'registration_number', null),
     'digest-' || i, 'status-' || i, 'pending_review', 1700000000000 + i FROM n`,
  // Held wallets.
  `${numbers} INSERT INTO wallet_holds (submission_id, nonprofit_id, wallet_before, wallet, status, approved_by, approved_at, effective_at)
   SELECT printf('%032x', i), i, '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', 'held', 'ada', 1700000000000, 9700000000000 + i FROM n`,
  // Drafts.
  `${numbers} INSERT INTO recommendation_drafts (nonprofit_id, recommended_for, normalised, why_recommended, source_url, agent_id, agent_name, phase, status, created_at)
   SELECT ${profile}, '["donors interested in reading"]', '["donors interested in reading"]', 'It lends books.', 'https://source.example/', 'agent-' || i, 'Agent', 2, 'pending', 1700000000000 + i FROM n`,
  // The log.
  `${numbers} INSERT INTO audit_log (operator, action, subject, detail, happened_at)
   SELECT 'ada', CASE i % 2 WHEN 0 THEN 'review.approved' ELSE 'review.rejected' END, 'prose-' || i, '{"reason":"Because."}', 1700000000000 + i FROM n`,
];

/** Puts so many things into every queue, spread over the profiles, and as many lines into the log. */
export async function fillQueues(store: Store, count: number): Promise<void> {
  const { rows } = await store.raw.execute("SELECT max(id) AS newest FROM nonprofits");
  const profiles = Number(rows[0]?.["newest"] ?? 1);
  if (profiles < count)
    throw new Error(`${count} of a kind need as many profiles, not ${profiles}`);
  for (const sql of statements) {
    const args = sql.includes("?2") ? [count, profiles] : [count];
    await store.write((tx) => tx.raw.execute({ sql, args }));
  }
  await store.raw.execute("ANALYZE").catch(() => undefined);
}
