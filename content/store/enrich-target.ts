import type { EnrichableField } from "#content/shapes/enrichment.ts";
import type { NonprofitStatus } from "#content/shapes/nonprofit.ts";
import type { Asked } from "./records.ts";

/** What enrichment needs to know of a nonprofit: who it is, and what its fields hold (null: empty). */
export type EnrichTarget = {
  id: number;
  slug: string;
  name: string;
  status: NonprofitStatus;
  live(field: EnrichableField): string | null;
};

/** The nonprofit with this slug, withdrawn ones too; null when there is none. */
export async function enrichTarget(asked: Asked, slug: string): Promise<EnrichTarget | null> {
  const { rows } = await asked.execute({
    sql: `SELECT id, slug, name, status, mission, description, tagline, website, city, region, founded_year, contact_email
          FROM nonprofits
          WHERE slug = ?`,
    args: [slug],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    id: Number(row["id"]),
    slug: String(row["slug"]),
    name: String(row["name"]),
    status: String(row["status"]) as NonprofitStatus,
    live: (field) => {
      // A nonprofit has any number of programmes and metrics: there is always room for one more.
      if (field === "programme" || field === "impact_metric") return null;
      const value = row[field];
      return value === null || value === undefined || value === "" ? null : String(value);
    },
  };
}
