import type { EnrichableField } from "#content/shapes/enrichment.ts";
import type { NonprofitStatus } from "#content/shapes/nonprofit.ts";
import { packed, unpacked } from "./packed.ts";
import type { Asked } from "./records.ts";

/** What enrichment needs to know of a nonprofit: who it is, and what its fields hold (null: empty). */
export type EnrichTarget = {
  id: number;
  slug: string;
  name: string;
  status: NonprofitStatus;
  live(field: EnrichableField): string | null;
};

const columns = [
  "id", "slug", "name", "status", "mission", "description", "tagline", "website", "city", "region", "founded_year",
  "contact_email",
]; // prettier-ignore

type Known = Pick<EnrichTarget, "id" | "slug" | "name" | "status"> &
  Record<Exclude<EnrichableField, "programme" | "impact_metric">, string | number | null>;

/** The nonprofit with this slug, withdrawn ones too; null when there is none. */
export async function enrichTarget(asked: Asked, slug: string): Promise<EnrichTarget | null> {
  const { rows } = await asked.execute({
    sql: `SELECT ${packed(columns)}
          FROM nonprofits
          WHERE slug = ?`,
    args: [slug],
  });
  const [row] = unpacked<Known>(rows);
  if (row === undefined) return null;
  const { id, name, status } = row;
  return {
    id,
    slug: row.slug,
    name,
    status,
    live: (field) => {
      // A nonprofit has any number of programmes and metrics: there is always room for one more.
      if (field === "programme" || field === "impact_metric") return null;
      const value = row[field];
      return value === null || value === "" ? null : String(value);
    },
  };
}
