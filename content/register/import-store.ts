import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** What an import did. Withdrawn and restored are counted beside added, changed and unchanged. */
export type ImportCounts = {
  added: number;
  changed: number;
  unchanged: number;
  withdrawn: number;
  skipped: number;
};

const among = "IN (SELECT value FROM json_each(?))";

/** The nonprofits that have these org-ids. Index: registrations_org_id. */
export async function idsByOrgId(
  store: Queryable,
  orgIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT org_id, nonprofit_id FROM registrations WHERE org_id ${among}`,
    args: [JSON.stringify(orgIds)],
  });
  return new Map(rows.map((row) => [String(row["org_id"]), Number(row["nonprofit_id"])]));
}

/** The nonprofits that have these slugs, withdrawn ones too: a slug is never used again. Index: nonprofits_slug. */
export async function idsBySlug(
  store: Queryable,
  slugs: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT slug, id FROM nonprofits WHERE slug ${among}`,
    args: [JSON.stringify(slugs)],
  });
  return new Map(rows.map((row) => [String(row["slug"]), Number(row["id"])]));
}

/** Which of these ids are in use. */
export async function knownIds(store: Queryable, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT id FROM nonprofits WHERE id ${among}`,
    args: [JSON.stringify(ids)],
  });
  return new Set(rows.map((row) => Number(row["id"])));
}

/** Ids of all nonprofits in rising order, a part at a time. */
export async function idsAfter(store: Queryable, id: number, limit: number): Promise<number[]> {
  const { rows } = await store.raw.execute({
    sql: "SELECT id FROM nonprofits WHERE id > ? ORDER BY id LIMIT ?",
    args: [id, limit],
  });
  return rows.map((row) => Number(row["id"]));
}

/** Nonprofits that these parts of a register listed and that are not withdrawn, with their org-ids, by rising id. */
export async function listedInScopes(
  store: Queryable,
  register: string,
  scopes: readonly string[],
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number; org_ids: string[] }[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT n.id, json_group_array(r.org_id) AS org_ids
          FROM nonprofits AS n
          LEFT JOIN registrations AS r ON r.nonprofit_id = n.id
          WHERE n.id IN (
            SELECT id FROM nonprofits
            WHERE id > ? AND register = ? AND register_scope ${among} AND status <> 'withdrawn'
            ORDER BY id LIMIT ?
          )
          GROUP BY n.id ORDER BY n.id`,
    args: [after, register, JSON.stringify(scopes), limit],
  });
  return rows.map((row) => ({
    id: Number(row["id"]),
    org_ids: (JSON.parse(String(row["org_ids"])) as (string | null)[]).flatMap((id) => id ?? []),
  }));
}

/** Notes that an import began to write; answers its id. */
export async function startImport(
  tx: WriteTransaction,
  { format, files, now }: { format: string; files: readonly string[]; now: Date },
): Promise<number> {
  const { rows } = await tx.raw.execute({
    sql: "INSERT INTO imports (format, files, status, started_at) VALUES (?, ?, 'running', ?) RETURNING id",
    args: [format, JSON.stringify(files), now.getTime()],
  });
  return Number(rows[0]?.["id"]);
}

/** Notes how an import ended. One that stays `running` was interrupted; running it again finishes the work. */
export async function finishImport(
  tx: WriteTransaction,
  id: number,
  counts: ImportCounts,
  now: Date,
): Promise<void> {
  const { added, changed, unchanged, withdrawn, skipped } = counts;
  await tx.raw.execute({
    sql: `UPDATE imports
          SET status = 'finished', added = ?, changed = ?, unchanged = ?, withdrawn = ?, skipped = ?, finished_at = ?
          WHERE id = ?`,
    args: [added, changed, unchanged, withdrawn, skipped, now.getTime(), id],
  });
}
