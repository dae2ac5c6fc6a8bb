import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { CauseId } from "#content/contract/cause.ts";
import { ImpactMetric, NonprofitStatus, Program, SetBy } from "#content/contract/nonprofit.ts";
import type { NonprofitField, NonprofitRecord } from "./record.ts";

const text = z.string().nullable();
const count = z.int().min(0).nullable();
const flag = z.union([z.literal(0), z.literal(1)]);
const instant = z.int().min(0);

/** A slug names files, whose names have at most 255 bytes, endings included. */
const slugLengthMax = 240;
const nameLengthMax = 1_000;

/** One line of our own NDJSON: all that the store holds of one nonprofit. Without `contact_email` it says nothing of it. */
export const RecordLine = z.strictObject({
  id: z.int().min(1),
  slug: z
    .string()
    .max(slugLengthMax)
    .regex(
      /^(?!(?:index|pages)$)[a-z0-9]+(?:-[a-z0-9]+)*$/,
      "a slug has a-z, 0-9 and single hyphens, and is neither index nor pages",
    ),
  name: z.string().trim().min(1).max(nameLengthMax),
  tagline: text,
  mission: text,
  description: text,
  country_code: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .nullable(),
  region: text,
  city: text,
  website: text,
  donation_url: text,
  logo_url: text,
  contact_email: text.optional(),
  usdc_wallet: text,
  wallet_challenge: text,
  wallet_signature: text,
  beneficiaries_per_year: count,
  founded_year: z.int().min(1000).max(9999).nullable(),
  annual_budget_usd: z.number().nullable(),
  team_size: count,
  ghd_aligned: flag,
  verified: flag,
  status: NonprofitStatus,
  causes: z.array(CauseId),
  programs: z.array(Program),
  impact_metrics: z.array(ImpactMetric),
  registrations: z.array(
    z.strictObject({
      country_code: z.string(),
      type: z.string(),
      registration_number: z.string(),
      org_id: text,
    }),
  ),
  register: text,
  register_scope: text,
  created_at: instant,
  updated_at: instant,
  provenance: z.record(
    z.string(),
    z.strictObject({
      set_by: SetBy,
      source: z.string(),
      source_url: text,
      agents: z.array(z.string()),
      applied_at: instant,
    }),
  ),
});
export type RecordLine = z.infer<typeof RecordLine>;

/** The line of a nonprofit, its keys in this shape's order. The e-mail address is only in it when asked for. */
export function recordLine(
  record: NonprofitRecord,
  { contactEmails }: { contactEmails: boolean },
): string {
  const line = Object.fromEntries(
    Object.keys(RecordLine.shape)
      .filter((key) => contactEmails || key !== "contact_email")
      .map((key) => [key, record[key as keyof NonprofitRecord]]),
  );
  const provenance = Object.entries(record.provenance)
    .filter(([field]) => contactEmails || field !== "contact_email")
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ ...line, provenance: Object.fromEntries(provenance) });
}

/**
 * A nonprofit after another directory's record of it has come in. A field that consensus, an operator or the organisation
 * set here stays, unless the other directory holds a newer value of that kind. Slug and id are kept. Answers `before`
 * itself when nothing changes.
 */
export function mergedWithLine(before: NonprofitRecord, line: RecordLine): NonprofitRecord {
  const after: NonprofitRecord = {
    ...before,
    ...line,
    contact_email: line.contact_email ?? null,
    id: before.id,
    slug: before.slug,
    created_at: before.created_at,
    provenance: { ...line.provenance },
  };
  const fields = new Set([...Object.keys(before.provenance), ...Object.keys(line.provenance)]);
  if (line.contact_email === undefined) fields.add("contact_email");
  for (const field of fields) {
    if (!staysAsItIs(before, line, field)) continue;
    if (field in before && field !== "id") {
      Object.assign(after, { [field]: before[field as NonprofitField] });
    }
    const origin = before.provenance[field];
    if (origin === undefined) delete after.provenance[field];
    else after.provenance[field] = origin;
  }
  const same = isDeepStrictEqual({ ...after, updated_at: 0 }, { ...before, updated_at: 0 });
  return same ? before : after;
}

/** A record as a new nonprofit of this directory, its id kept. */
export const recordOfLine = (line: RecordLine): NonprofitRecord => ({
  ...line,
  contact_email: line.contact_email ?? null,
});

function staysAsItIs(before: NonprofitRecord, line: RecordLine, field: string): boolean {
  if (field === "contact_email" && line.contact_email === undefined) return true;
  const [here, there] = [before.provenance[field], line.provenance[field]];
  if (here === undefined || here.set_by === "register") return false;
  return there === undefined || there.set_by === "register" || there.applied_at <= here.applied_at;
}
