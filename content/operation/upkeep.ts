import type { Queryable, Store } from "#content/store/open.ts";

/** How large the store is; null where the server does not tell. */
export async function storeBytes({ raw }: Pick<Store, "raw">): Promise<number | null> {
  try {
    const pages = await raw.execute("PRAGMA page_count");
    const size = await raw.execute("PRAGMA page_size");
    return Number(pages.rows[0]?.["page_count"]) * Number(size.rows[0]?.["page_size"]) || null;
  } catch {
    // A libSQL server may refuse pragmas.
    return null;
  }
}

/** Requests refused by rate limits since an instant (milliseconds since 1970), by the limit's name. By primary key. */
export async function refusedSince(
  store: Queryable,
  since: number,
): Promise<Record<string, number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT substr(kind, 9) AS name, sum(count) AS number
          FROM activity_counts
          WHERE kind > 'limited:' AND kind < 'limited;' AND hour > ?
          GROUP BY kind`,
    args: [since],
  });
  return Object.fromEntries(rows.map((row) => [String(row["name"]), Number(row["number"])]));
}

/** When the first change after this one was made, in milliseconds since 1970; null when there is none. */
export async function firstChangeAfter(store: Queryable, sequence: number): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT changed_at FROM changes WHERE sequence > ? ORDER BY sequence LIMIT 1",
    args: [sequence],
  });
  return rows[0] === undefined ? null : Number(rows[0]["changed_at"]);
}

/** When the longest waiting webhook was queued, in milliseconds since 1970; null when none waits. */
export async function oldestPendingWebhook(store: Queryable): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT created_at FROM webhook_deliveries WHERE status = 'pending' ORDER BY id LIMIT 1",
    args: [],
  });
  return rows[0] === undefined ? null : Number(rows[0]["created_at"]);
}
