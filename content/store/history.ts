import { publicValue } from "#content/rules/mask.ts";
import { isoTime } from "#content/rules/time.ts";
import type { History } from "#content/shapes/enrichment-answers.ts";
import type { Asked } from "./records.ts";

/** The sequence of a nonprofit's newest change; null for none. Index: changes_by_nonprofit. */
export async function newestChangeOf(asked: Asked, nonprofitId: number): Promise<number | null> {
  const { rows } = await asked.execute({
    sql: "SELECT sequence FROM changes WHERE nonprofit_id = ? ORDER BY sequence DESC LIMIT 1",
    args: [nonprofitId],
  });
  return rows[0] === undefined ? null : Number(rows[0]["sequence"]);
}

const changesMax = 200;
const agreedMax = 400;

/**
 * GET /api/nonprofits/{slug}/history: the newest 200 public changes of a profile, newest first, with who agreed on what
 * went live then. The same from the service and in the bundle. Null for an unknown slug; a withdrawn one has a history.
 */
export async function historyAnswer(asked: Asked, slug: string): Promise<History | null> {
  const found = await asked.execute({
    sql: "SELECT id FROM nonprofits WHERE slug = ?",
    args: [slug],
  });
  const id = found.rows[0]?.["id"];
  if (id === undefined) return null;
  const { rows } = await asked.execute({
    sql: `SELECT sequence, kind, fields, origin, changed_at FROM changes
          WHERE nonprofit_id = ? AND kind <> 'directory'
          ORDER BY sequence DESC
          LIMIT ${changesMax}`,
    args: [Number(id)],
  });
  const agreed = await agreedAt(asked, Number(id));
  const changes = rows.map((row) => {
    const fields = JSON.parse(String(row["fields"])) as string[];
    const changed_at = Number(row["changed_at"]);
    const together = fields.flatMap((field) => agreed.get(`${changed_at} ${field}`) ?? []);
    return {
      sequence: Number(row["sequence"]),
      kind: String(row["kind"]) as History["changes"][number]["kind"],
      fields: fields.map(publicName),
      origin: String(row["origin"]),
      changed_at: isoTime(changed_at),
      ...(together.length === 0 ? {} : { agreed: together }),
    };
  });
  return { slug, count: changes.length, changes };
}

type Agreed = NonNullable<History["changes"][number]["agreed"]>;

/** What was applied, by the instant and the field: a submission is applied in the transaction of its change. */
async function agreedAt(asked: Asked, nonprofitId: number): Promise<Map<string, Agreed>> {
  const { rows } = await asked.execute({
    sql: `SELECT field, value, agent_name, source_url, applied_at FROM submissions
          WHERE nonprofit_id = ? AND applied_at IS NOT NULL
          ORDER BY id
          LIMIT ${agreedMax}`,
    args: [nonprofitId],
  });
  const agreed = new Map<string, Agreed>();
  for (const row of rows) {
    const field = String(row["field"]);
    const key = `${Number(row["applied_at"])} ${rowFields[field] ?? field}`;
    const together = agreed.get(key) ?? [];
    together.push({
      field,
      value: publicValue(field, String(row["value"])),
      agent_name: String(row["agent_name"]),
      source_url: row["source_url"] === null ? null : String(row["source_url"]),
    });
    agreed.set(key, together);
  }
  return agreed;
}

const rowFields: Readonly<Record<string, string>> = {
  programme: "programs",
  impact_metric: "impact_metrics",
};

/** The wire has `country` where the store has `country_code`. */
const publicName = (field: string): string => (field === "country_code" ? "country" : field);
