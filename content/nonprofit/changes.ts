import type { Queryable } from "#content/store/open.ts";

/** One appended change of public data. `at` is in milliseconds since 1970. */
export type Change = {
  sequence: number;
  kind: "added" | "changed" | "withdrawn" | "restored" | "directory";
  nonprofit_id: number | null;
  slug: string | null;
  fields: string[];
  moved_lists: string[];
  origin: string;
  changed_at: number;
};

/** The changes after a sequence number, oldest first, at most `limit`. */
export async function changesAfter(
  store: Queryable,
  sequence: number,
  limit: number,
): Promise<Change[]> {
  const { rows } = await store.raw.execute({
    sql: "SELECT * FROM changes WHERE sequence > ? ORDER BY sequence LIMIT ?",
    args: [sequence, limit],
  });
  return rows.map(
    (row) =>
      ({
        ...row,
        fields: JSON.parse(String(row["fields"])),
        moved_lists: JSON.parse(String(row["moved_lists"])),
      }) as unknown as Change,
  );
}

/** The sequence number of the newest change, 0 for none. */
export async function newestSequence(store: Queryable): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: "SELECT coalesce(max(sequence), 0) AS newest FROM changes",
    args: [],
  });
  return Number(rows[0]?.["newest"] ?? 0);
}

/** The newest of the next `limit` changes after a sequence number, not beyond `upTo`; null for none. */
export async function newestSequenceWithin(
  store: Queryable,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT max(sequence) AS newest
          FROM (SELECT sequence FROM changes WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?)`,
    args: [after, upTo, limit],
  });
  const newest = rows[0]?.["newest"] ?? null;
  return newest === null ? null : Number(newest);
}

/** Which nonprofit a change is about, null for the directory itself. */
export async function changedProfile(store: Queryable, sequence: number): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT nonprofit_id FROM changes WHERE sequence = ?",
    args: [sequence],
  });
  const id = rows[0]?.["nonprofit_id"] ?? null;
  return id === null ? null : Number(id);
}
