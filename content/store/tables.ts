import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

// Column names are the contract's field names, so that one search finds shape, table, JSON and page.
// Instants are integer milliseconds since 1970, UTC. Flags are 0 or 1.

/** What the directory knows of one nonprofit. A row is never deleted: a withdrawn one keeps its slug for ever. */
export const nonprofits = sqliteTable(
  "nonprofits",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    slug: text().notNull(),
    name: text().notNull(),
    tagline: text(),
    mission: text(),
    description: text(),
    country_code: text(), // ISO 3166-1 alpha-2; the name comes from content/editorial/countries.json.
    region: text(),
    city: text(),
    website: text(),
    donation_url: text(),
    logo_url: text(),
    contact_email: text(), // Never public.
    usdc_wallet: text(),
    wallet_challenge: text(),
    wallet_signature: text(),
    beneficiaries_per_year: integer(),
    founded_year: integer(),
    annual_budget_usd: real(),
    team_size: integer(),
    ghd_aligned: integer().notNull().default(0),
    verified: integer().notNull().default(0),
    status: text({ enum: ["listed", "claimed", "withdrawn"] })
      .notNull()
      .default("listed"),
    register: text(), // The import format that lists it, null for one that registered itself.
    register_scope: text(), // The part of the register (a file) in which it was last seen.
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (n) => [
    uniqueIndex("nonprofits_slug").on(n.slug),
    index("nonprofits_by_register").on(n.register, n.register_scope),
    check("nonprofits_flags", sql`${n.verified} in (0, 1) and ${n.ghd_aligned} in (0, 1)`),
  ],
);

export const nonprofitCauses = sqliteTable(
  "nonprofit_causes",
  {
    nonprofit_id: integer().notNull(),
    position: integer().notNull(), // 0 is the primary cause.
    cause_id: text().notNull(),
  },
  (c) => [
    primaryKey({ columns: [c.nonprofit_id, c.position] }),
    uniqueIndex("nonprofit_causes_once").on(c.nonprofit_id, c.cause_id),
  ],
);

export const programs = sqliteTable(
  "programs",
  {
    nonprofit_id: integer().notNull(),
    position: integer().notNull(),
    name: text().notNull(),
    description: text(),
    beneficiaries_per_year: integer(),
    location: text(),
  },
  (p) => [primaryKey({ columns: [p.nonprofit_id, p.position] })],
);

export const impactMetrics = sqliteTable(
  "impact_metrics",
  {
    nonprofit_id: integer().notNull(),
    position: integer().notNull(),
    name: text().notNull(),
    value: text().notNull(),
    unit: text(),
    period: text(),
  },
  (m) => [primaryKey({ columns: [m.nonprofit_id, m.position] })],
);

/** Legal registrations. `org_id` (US-EIN-…, GB-CHC-…) is what an import recognises an organisation by. */
export const registrations = sqliteTable(
  "registrations",
  {
    nonprofit_id: integer().notNull(),
    position: integer().notNull(),
    country_code: text().notNull(),
    type: text().notNull(),
    registration_number: text().notNull(),
    org_id: text(),
  },
  (r) => [
    primaryKey({ columns: [r.nonprofit_id, r.position] }),
    uniqueIndex("registrations_org_id").on(r.org_id),
  ],
);

/** Where each live value came from. `agents` is a JSON array of agent names, empty but for consensus. */
export const provenance = sqliteTable(
  "provenance",
  {
    nonprofit_id: integer().notNull(),
    field: text().notNull(),
    set_by: text({ enum: ["register", "consensus", "operator", "organisation"] }).notNull(),
    source: text().notNull(),
    source_url: text(),
    agents: text().notNull().default("[]"),
    applied_at: integer().notNull(),
  },
  (p) => [primaryKey({ columns: [p.nonprofit_id, p.field] })],
);

/**
 * Which public lists a nonprofit stands in, and where. Lists are `all`, `cause:<id>`, `country:<code>` and `thin`
 * (what help is wanted for). Derived from nonprofits by store/listings.ts in the same transaction; a withdrawn
 * nonprofit stands in none. Smaller sorts first; ties fall to name_key, then to the id.
 */
export const listings = sqliteTable(
  "listings",
  {
    list: text().notNull(),
    nonprofit_id: integer().notNull(),
    list_order: integer().notNull(), // Verified first, then beneficiaries.
    impact_order: integer().notNull(), // Beneficiaries first, then verified.
    name_key: text().notNull(),
  },
  (l) => [
    primaryKey({ columns: [l.nonprofit_id, l.list] }),
    index("listings_by_list_order").on(l.list, l.list_order, l.name_key, l.nonprofit_id),
    index("listings_by_impact").on(l.list, l.impact_order, l.name_key, l.nonprofit_id),
  ],
);

/**
 * Every change of public data, appended in the transaction that makes it; the publisher drains it in order.
 * `fields` names the changed fields (JSON array). `moved_lists` names the lists in which the nonprofit appeared,
 * vanished or changed place (JSON array): those are what shifts other pages.
 */
export const changes = sqliteTable(
  "changes",
  {
    sequence: integer().primaryKey({ autoIncrement: true }),
    kind: text({ enum: ["added", "changed", "withdrawn", "restored", "directory"] }).notNull(),
    nonprofit_id: integer(), // Null for a change of the directory itself (counters, publication day).
    slug: text(),
    fields: text().notNull().default("[]"),
    moved_lists: text().notNull().default("[]"),
    origin: text().notNull(), // For example import:irs-bmf, consensus, review, seed.
    changed_at: integer().notNull(),
  },
  (c) => [index("changes_by_nonprofit").on(c.nonprofit_id, c.sequence)],
);

/** The numbered files of the change feed: file n holds the changes first_sequence..last_sequence, for ever. */
export const feedFiles = sqliteTable("feed_files", {
  number: integer().primaryKey(),
  first_sequence: integer().notNull(),
  last_sequence: integer().notNull(),
  closed_at: integer().notNull(),
});

/** Facts of the directory as a whole that pages show: publication_day, feed_epoch, counters of the last checkpoint. */
export const directoryFacts = sqliteTable("directory_facts", {
  name: text().primaryKey(),
  value: text().notNull(),
  updated_at: integer().notNull(),
});

export const imports = sqliteTable("imports", {
  id: integer().primaryKey({ autoIncrement: true }),
  format: text().notNull(),
  files: text().notNull(), // JSON array of file names, without folders.
  status: text({ enum: ["running", "finished"] }).notNull(),
  added: integer().notNull().default(0),
  changed: integer().notNull().default(0),
  unchanged: integer().notNull().default(0),
  withdrawn: integer().notNull().default(0),
  skipped: integer().notNull().default(0),
  started_at: integer().notNull(),
  finished_at: integer(),
});

/** What agents sent to complete a profile. Source: spec, "States and transitions". */
export const submissions = sqliteTable(
  "submissions",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    nonprofit_id: integer().notNull(),
    field: text().notNull(),
    field_type: text({ enum: ["structured", "prose"] }).notNull(),
    value: text().notNull(), // Cleaned, in the letter case in which it goes live.
    normalised_value: text().notNull(), // For comparing only.
    source_url: text(),
    agent_id: text().notNull(), // Folded: NFKC, trimmed, lower case.
    agent_name: text().notNull(),
    network: text(), // Keyed hash of the client's network, for the strict consensus mode.
    status: text({ enum: ["pending", "applied", "rejected"] }).notNull(),
    audit_only: integer().notNull().default(0), // The field held a value: takes no part in consensus.
    test_data: integer().notNull().default(0), // Kept out of leaderboard, agents.md and second opinions.
    confidence: integer().notNull().default(1), // Distinct agents for the same normalised value.
    reason: text(), // Why it was rejected.
    winning_value: text(),
    created_at: integer().notNull(),
    applied_at: integer(), // When it went live; stays after a revert, for the history.
    decided_at: integer(),
  },
  (s) => [
    uniqueIndex("one_pending_per_agent_and_field")
      .on(s.nonprofit_id, s.field, s.agent_id)
      .where(sql`status = 'pending' and audit_only = 0 and field_type = 'structured'`),
    index("submissions_by_field").on(s.nonprofit_id, s.field, s.status, s.normalised_value),
    index("submissions_by_agent_and_field").on(s.agent_id, s.nonprofit_id, s.field),
    index("submissions_rejected")
      .on(s.nonprofit_id, s.field, s.decided_at)
      .where(sql`status = 'rejected'`),
    index("submissions_applied")
      .on(s.field, s.decided_at)
      .where(sql`status = 'applied'`),
    index("submissions_for_review")
      .on(s.id)
      .where(sql`field_type = 'prose' and status = 'pending' and audit_only = 0`),
    // What agents agree on against a live value: the operator may empty the field again.
    index("submissions_disputing")
      .on(s.id)
      .where(
        sql`status = 'pending' and audit_only = 1 and field_type = 'structured' and confidence > 1 and reason is null`,
      ),
  ],
);

/**
 * Which fields wait for a second agent: a derived table, kept by store/pending-fields.ts in the transactions that change
 * submissions or nonprofits. Only structured fields without a live value, of nonprofits that are not withdrawn.
 */
export const pendingFields = sqliteTable(
  "pending_fields",
  {
    nonprofit_id: integer().notNull(),
    field: text().notNull(),
    pending: integer().notNull(), // Pending submissions that are no test data.
    list_order: integer().notNull(), // As in listings.
  },
  (p) => [
    primaryKey({ columns: [p.nonprofit_id, p.field] }),
    index("pending_fields_by_order").on(p.list_order, p.nonprofit_id),
    index("pending_fields_contested")
      .on(p.nonprofit_id, p.field)
      .where(sql`pending > 1`),
  ],
);

/** What each agent did, test data left out of the counts: the leaderboard without counting a million rows. */
export const agents = sqliteTable(
  "agents",
  {
    agent_id: text().primaryKey(),
    agent_name: text().notNull(), // As last given.
    submissions: integer().notNull().default(0),
    applied: integer().notNull().default(0),
    nonprofits_touched: integer().notNull().default(0),
    last_seen: integer().notNull(),
  },
  (a) => [index("agents_by_credit").on(a.applied, a.submissions, a.last_seen)],
);

/** Running numbers of enrichment: total, high_confidence, status:<status>, field:<field> and so on. */
export const enrichmentCounts = sqliteTable("enrichment_counts", {
  name: text().primaryKey(),
  count: integer().notNull().default(0),
});

/** One transfer is one gift: the database refuses a second credit for it. */
export const donations = sqliteTable(
  "donations",
  {
    id: text().primaryKey(),
    nonprofit_id: integer().notNull(),
    intent_id: text(),
    amount_micro_usdc: integer().notNull(),
    network: text().notNull(),
    tx_signature: text().notNull(),
    destination: text().notNull(), // The token account that was paid.
    donor: text(),
    memo: text(),
    settled_at: integer().notNull(),
    recorded_at: integer().notNull(),
  },
  (d) => [
    uniqueIndex("one_credit_per_transfer").on(d.tx_signature, d.destination),
    index("donations_by_nonprofit").on(d.nonprofit_id, d.settled_at),
    check("donations_amount_positive", sql`${d.amount_micro_usdc} > 0`),
  ],
);

/** A payment that was asked for. Holds the recipient of that moment, so a wallet change in flight is safe. */
export const donationIntents = sqliteTable(
  "donation_intents",
  {
    id: text().primaryKey(),
    nonprofit_id: integer().notNull(),
    recipient: text().notNull(),
    amount_micro_usdc: integer().notNull(),
    memo: text().notNull(),
    tx_signature: text(), // Kept before broadcasting, so that a crash cannot lose it.
    status: text({ enum: ["open", "broadcast", "settled", "failed"] }).notNull(),
    created_at: integer().notNull(),
  },
  (d) => [
    uniqueIndex("donation_intents_memo").on(d.memo),
    index("donation_intents_by_status").on(d.status),
  ],
);

/** Claims, registrations and changes asked for by organisations. Nothing here is public before approval. */
export const onboardingSubmissions = sqliteTable(
  "onboarding_submissions",
  {
    id: text().primaryKey(),
    type: text({ enum: ["claim", "registration", "change"] }).notNull(),
    nonprofit_id: integer(),
    request: text().notNull(), // The request as JSON.
    wallet_challenge: text(),
    wallet_signature: text(),
    status: text({ enum: ["pending_review", "approved", "rejected"] }).notNull(),
    reason: text(),
    reviewed_by: text(),
    wallet_effective_at: integer(), // End of the 72 h hold of a wallet change.
    wallet_stopped: integer().notNull().default(0),
    created_at: integer().notNull(),
    reviewed_at: integer(),
  },
  (o) => [index("onboarding_by_status").on(o.status, o.created_at)],
);

/** What operators did. Append-only. */
export const auditLog = sqliteTable("audit_log", {
  id: integer().primaryKey({ autoIncrement: true }),
  operator: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  detail: text().notNull().default("{}"),
  happened_at: integer().notNull(),
});

/** Counters by hour: kind is query:search, query:recommend, query:mcp or hit:llms_txt and so on. No personal data. */
export const activityCounts = sqliteTable(
  "activity_counts",
  {
    kind: text().notNull(),
    hour: integer().notNull(), // Milliseconds of the hour's start.
    count: integer().notNull(),
  },
  (a) => [primaryKey({ columns: [a.kind, a.hour] })],
);

/** Every recommendation call, for the follow-through. `client` is a daily keyed hash of the user agent. */
export const recommendationLog = sqliteTable(
  "recommendation_log",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    query: text().notNull(), // JSON: cause, country, q, intent.
    result_count: integer().notNull(),
    top_slug: text(),
    ranking_signals: text().notNull(),
    client: text().notNull(),
    called_at: integer().notNull(),
  },
  (r) => [index("recommendation_log_by_client").on(r.client, r.called_at)],
);

export const recommendationFollowThroughs = sqliteTable("recommendation_follow_throughs", {
  id: integer().primaryKey({ autoIncrement: true }),
  recommendation_id: integer().notNull(),
  slug: text().notNull(),
  action: text({ enum: ["profile", "donate"] }).notNull(),
  followed_at: integer().notNull(),
});

/** Profiles picked by hand for recommendations, beside those of content/editorial/starter-set.json. */
export const curatedPicks = sqliteTable("curated_picks", {
  nonprofit_id: integer().primaryKey(),
  recommended_for: text().notNull(), // JSON array of donor-intent phrases.
  why_recommended: text().notNull(),
});

/** Answers kept for Idempotency-Key, 24 h. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    route: text().notNull(),
    key: text().notNull(),
    request_digest: text().notNull(),
    status: integer().notNull(),
    body: text().notNull(),
    created_at: integer().notNull(),
  },
  (i) => [
    primaryKey({ columns: [i.route, i.key] }),
    index("idempotency_keys_by_time").on(i.created_at),
  ],
);
