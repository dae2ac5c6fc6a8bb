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
import type {
  LinkSource,
  NonprofitStatus,
  RegisterState,
  SetBy,
  StoredPeriod,
} from "#content/contract/nonprofit.ts";

// Columns of all tables are named like the fields of the contract, so that one search finds shape, table, JSON and page.
// Instants are integer milliseconds since 1970, UTC. Flags are 0 or 1.

/** What the directory knows about a nonprofit. Rows are never deleted: a withdrawn one keeps its slug forever. */
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
    ghd_aligned: integer().notNull().default(0).$type<0 | 1>(),
    verified: integer().notNull().default(0).$type<0 | 1>(),
    status: text().notNull().default("listed").$type<NonprofitStatus>(),
    merged_into: text(), // Slug of the profile into which an operator merged this one.
    register: text(), // The import format that lists it; null if it registered itself.
    register_scope: text(), // The part of the register (a state) in which it was last seen.
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    search_facets: text().notNull().default(""), // Words of the search index; content/nonprofit/filters.ts.
  },
  (n) => [
    uniqueIndex("nonprofits_slug").on(n.slug),
    index("nonprofits_by_register").on(n.register, n.register_scope),
    // Possible duplicates: content/onboarding/duplicate-store.ts queries with these exact expressions.
    index("nonprofits_by_place")
      .on(n.country_code, sql`lower(city)`)
      .where(sql`city is not null`),
    index("nonprofits_by_site")
      .on(sql`replace(replace(replace(lower(website), 'https://', ''), 'http://', ''), 'www.', '')`)
      .where(sql`website is not null`),
    index("nonprofits_by_wallet")
      .on(n.usdc_wallet)
      .where(sql`usdc_wallet is not null`),
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

/** Legal registrations. Imports recognise an organisation by `org_id` (US-EIN-…, GB-CHC-…). */
export const registrations = sqliteTable(
  "registrations",
  {
    nonprofit_id: integer().notNull(),
    position: integer().notNull(),
    country_code: text().notNull(),
    type: text().notNull(),
    registration_number: text().notNull(),
    org_id: text(),
    linked_by: text().$type<LinkSource>(), // Why it is the same organisation; null: the profile began with it.
  },
  (r) => [
    primaryKey({ columns: [r.nonprofit_id, r.position] }),
    uniqueIndex("registrations_org_id").on(r.org_id),
    index("registrations_linked")
      .on(r.org_id)
      .where(sql`linked_by is not null`),
    index("registrations_without_org_id")
      .on(
        sql`upper(replace(replace(replace(replace(registration_number, ' ', ''), '-', ''), '/', ''), '.', ''))`,
      )
      .where(sql`org_id is null`),
  ],
);

/**
 * What a register says about one organisation, in its own codes; content/nonprofit/register-facts.ts has the words. An
 * organisation without a profile (not eligible, or revoked before) has a row too, with a null `nonprofit_id`.
 */
export const registerRecords = sqliteTable(
  "register_records",
  {
    org_id: text().notNull(),
    register: text().notNull(), // The import format, for example irs-bmf.
    nonprofit_id: integer(),
    name: text().notNull(),
    as_of: text().notNull(), // YYYY-MM-DD: the date of the file that first said all this.
    scope: text().notNull(), // The part of the register in which it was last seen.
    state: text().notNull().$type<RegisterState>(),
    facts: text({ mode: "json" }).notNull().$type<Record<string, string | number>>(),
    finances: text({ mode: "json" }).notNull().default([]).$type<StoredPeriod[]>(), // Newest first.
    row_digest: integer(), // Of the row that was last imported, until its profile changes; content/register/row-digest-store.ts.
  },
  (r) => [
    primaryKey({ columns: [r.org_id, r.register] }),
    // Includes the org-id for organisations without a profile: a million rows have a null `nonprofit_id`.
    index("register_records_of").on(r.nonprofit_id, r.org_id, r.register),
    // Possible duplicates: content/register/found-links-store.ts queries with these exact expressions.
    index("register_records_by_company")
      .on(sql`facts ->> 'company_number'`)
      .where(sql`facts ->> 'company_number' is not null`),
  ],
);

/** When each part of a register was last read, which confirmed its records. */
export const registerScopes = sqliteTable(
  "register_scopes",
  {
    register: text().notNull(),
    scope: text().notNull(),
    as_of: text().notNull(), // YYYY-MM-DD: the date of the newest file.
  },
  (s) => [primaryKey({ columns: [s.register, s.scope] })],
);

/**
 * Whether two registrations belong to one organisation. `linked`: one profile was withdrawn in favour of the other.
 * `waiting`: an operator decides, because one profile is claimed. `undone`: never linked automatically again.
 */
export const registrationLinks = sqliteTable(
  "registration_links",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    org_id: text().notNull(), // The lesser of the two.
    other_org_id: text().notNull(),
    state: text({ enum: ["linked", "waiting", "undone"] }).notNull(),
    source: text().notNull().$type<LinkSource>(),
    set_by: text(), // The operator; null: the directory's own rule.
    set_at: integer().notNull(),
    gone: text(), // The slug of the profile that was withdrawn,
    kept: text(), // and of the one that stays.
    given: text({ mode: "json" }).$type<Record<string, unknown>>(), // What undoing the merge returns.
    undone_by: text(),
    undone_at: integer(),
    reason: text(), // Why it was undone, or set by an operator.
  },
  (l) => [
    uniqueIndex("registration_links_once").on(l.org_id, l.other_org_id),
    index("registration_links_by_gone").on(l.gone),
    index("registration_links_by_kept").on(l.kept),
    index("registration_links_by_state").on(l.state, l.id),
  ],
);

/** Where each live value came from. `agents` names the agents that agreed. */
export const provenance = sqliteTable(
  "provenance",
  {
    nonprofit_id: integer().notNull(),
    field: text().notNull(),
    set_by: text().notNull().$type<SetBy>(),
    source: text().notNull(),
    source_url: text(),
    rule: text(), // The rule that derived the value from a register's; null if none did.
    agents: text({ mode: "json" }).notNull().default([]).$type<string[]>(),
    corroborations: integer(), // Unnamed agents that sent the same value; null for none.
    applied_at: integer().notNull(),
    replaced: text({ mode: "json" }).$type<object>(), // The value that the organisation's own value replaced; null for none.
  },
  (p) => [primaryKey({ columns: [p.nonprofit_id, p.field] })],
);

/**
 * The public lists of each nonprofit and its place in them: `all`, `cause:<id>`, `country:<code>` and `thin` (needs help).
 * content/nonprofit/listing.ts derives them in the same transaction; a withdrawn nonprofit is in none. Smaller values come
 * first, ties by tie_key, then by id.
 */
export const listings = sqliteTable(
  "listings",
  {
    list: text().notNull(),
    nonprofit_id: integer().notNull(),
    list_order: integer().notNull(), // Verified first, then beneficiaries.
    impact_order: integer().notNull(), // Beneficiaries first, then verified.
    tie_key: text().notNull(), // Six digits for completeness and size (smaller for more), then the folded name.
  },
  (l) => [
    primaryKey({ columns: [l.nonprofit_id, l.list] }),
    index("listings_by_list_order").on(l.list, l.list_order, l.tie_key, l.nonprofit_id),
    index("listings_by_impact").on(l.list, l.impact_order, l.tie_key, l.nonprofit_id),
    index("listings_by_name")
      .on(sql`substr(tie_key, 7)`, l.nonprofit_id)
      .where(sql`list = 'all'`),
  ],
);

/** Totals of each list, kept by triggers, so that no one counts a million rows. */
export const listTotals = sqliteTable("list_totals", {
  list: text().primaryKey(),
  members: integer().notNull(),
  verified: integer().notNull(),
  people: real().notNull(), // Beneficiaries in a year.
});

/** The newest change in each 1,000 ids, for the sitemap index; kept by triggers. Chunks count from 1. */
export const sitemapChunks = sqliteTable("sitemap_chunks", {
  chunk: integer().primaryKey(),
  updated_at: integer().notNull(),
});
