import { wireTime } from "#content/contract/time.ts";
import { type EnrichableField, enrichableFields } from "#content/contract/enrichment.ts";
import type { Exemplars } from "#content/contract/enrichment-answers.ts";
import type { Queryable } from "#content/store/open.ts";

/** Default and greatest limit. Source: decisions.md, "Leaderboard and exemplars". */
export const exemplarsLimit = { default: 20, max: 100 } as const;

/** Fields whose applied values are public: e-mail addresses never are. */
export const exemplarFields = enrichableFields.filter((field) => field !== "contact_email");

/**
 * GET /api/agents/exemplars: submissions that went live, the newest first, one for each field of a nonprofit (the
 * earliest agreeing one). Index: submissions_applied.
 */
export async function exemplars(
  store: Queryable,
  { field, limit }: { field: EnrichableField | null; limit: number },
): Promise<Exemplars> {
  const found: { row: Exemplars["exemplars"][number]; at: number; key: string }[] = [];
  for (const one of exemplarFields) {
    if (field !== null && field !== one) continue;
    const { rows } = await store.raw.execute({
      sql: `SELECT n.slug, s.value, s.winning_value, s.agent_name, s.source_url, s.decided_at
            FROM submissions AS s
            JOIN nonprofits AS n ON n.id = s.nonprofit_id
            WHERE s.status = 'applied' AND s.field = ? AND s.test_data = 0 AND n.status <> 'withdrawn'
            ORDER BY s.decided_at DESC, s.id
            LIMIT ?`,
      args: [one, limit * 3],
    });
    for (const row of rows) {
      const at = Number(row["decided_at"]);
      found.push({
        at,
        key: `${String(row["slug"])} ${one} ${at}`,
        row: {
          nonprofit_slug: String(row["slug"]),
          field: one,
          // What a reviewer made of a prose text is what went live.
          value: String(row["winning_value"] ?? row["value"]),
          agent_name: String(row["agent_name"]),
          source_url: row["source_url"] === null ? null : String(row["source_url"]),
          applied_at: wireTime(new Date(at)),
        },
      });
    }
  }
  const seen = new Set<string>();
  const once = found.filter(({ key }) => !seen.has(key) && seen.add(key));
  const shown = once.toSorted((a, b) => b.at - a.at).slice(0, limit);
  return {
    message: "Submissions that went live. Use them as templates for the form of a value.",
    hint: "A structured field needs a second agent with the same value; name the page where you found it in source_url.",
    count: shown.length,
    exemplars: shown.map(({ row }) => row),
  };
}
