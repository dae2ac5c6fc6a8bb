import type { EnrichableField } from "#content/shapes/enrichment.ts";
import type { NonprofitStatus } from "#content/shapes/nonprofit.ts";
import { jsonOf, unpacked } from "./packed.ts";
import type { Asked } from "./records.ts";
import type { StoredSubmission } from "./submissions.ts";

/** What enrichment needs to know of a nonprofit: who it is, and what its fields hold (null: empty). */
export type EnrichTarget = {
  id: number;
  slug: string;
  name: string;
  status: NonprofitStatus;
  live(field: EnrichableField): string | null;
  /** What the asking agent sent about this nonprofit before, newest first. */
  own: readonly OwnSubmission[];
};

const columns = [
  "id", "slug", "name", "status", "mission", "description", "tagline", "website", "city", "region", "founded_year",
  "contact_email",
]; // prettier-ignore

type Known = Pick<EnrichTarget, "id" | "slug" | "name" | "status"> &
  Record<Exclude<EnrichableField, "programme" | "impact_metric">, string | number | null>;

/** An agent sends few things about one nonprofit; older ones than these are not looked at. */
const ownMax = 100;
const ownColumns = [
  "id", "nonprofit_id", "field", "field_type", "normalised_value", "agent_id", "status", "audit_only", "test_data",
  "confidence", "reason",
] as const; // prettier-ignore

/** What an answer and a decision need to know of an earlier submission. */
export type OwnSubmission = Pick<StoredSubmission, (typeof ownColumns)[number]>;

/**
 * The nonprofit with this slug, withdrawn ones too, and what this agent sent about it; null when there is none. Index:
 * submissions_by_agent_and_field.
 */
export async function enrichTarget(
  asked: Asked,
  slug: string,
  agentId: string,
): Promise<EnrichTarget | null> {
  const { rows } = await asked.execute({
    sql: `SELECT json_object(
            'fields', ${jsonOf(columns)},
            'own', (
              SELECT json_group_array(${jsonOf(ownColumns)}) FROM (
                SELECT * FROM submissions
                WHERE agent_id = ?2 AND nonprofit_id = n.id
                ORDER BY id DESC
                LIMIT ${ownMax}
              )
            )
          ) AS packed
          FROM nonprofits AS n
          WHERE slug = ?1`,
    args: [slug, agentId],
  });
  const [found] = unpacked<{ fields: Known; own: OwnSubmission[] }>(rows);
  if (found === undefined) return null;
  const row = found.fields;
  const { id, name, status } = row;
  return {
    id,
    slug: row.slug,
    name,
    status,
    own: found.own,
    live: (field) => {
      // A nonprofit has any number of programmes and metrics: there is always room for one more.
      if (field === "programme" || field === "impact_metric") return null;
      const value = row[field];
      return value === null || value === "" ? null : String(value);
    },
  };
}
