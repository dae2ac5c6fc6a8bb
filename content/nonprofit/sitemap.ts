import type { Queryable } from "#content/store/open.ts";

/** A profile that search engines shall know. `updated_at` is in milliseconds since 1970. */
export type SitemapEntry = { slug: string; updated_at: number };

/** The listed nonprofits with ids above `after` up to `last`, by id; withdrawn ones are left out. */
export async function sitemapEntries(
  store: Queryable,
  { after, last }: { after: number; last: number },
): Promise<SitemapEntry[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT slug, updated_at FROM nonprofits
          WHERE id > ? AND id <= ? AND status <> 'withdrawn'
          ORDER BY id`,
    args: [after, last],
  });
  return rows.map((row) => ({
    slug: String(row["slug"]),
    updated_at: Number(row["updated_at"]),
  }));
}

/** The newest change within each run of `size` ids that lists anybody; chunks count from 1. */
export async function sitemapChunks(
  store: Queryable,
  size: number,
): Promise<{ chunk: number; updated_at: number }[]> {
  const { rows } = await store.raw.execute({
    // A bound number arrives as a float, and a float division would give every id a chunk of its own.
    sql: `SELECT (id - 1) / CAST(? AS INTEGER) + 1 AS chunk, max(updated_at) AS updated_at FROM nonprofits
          WHERE status <> 'withdrawn'
          GROUP BY chunk
          ORDER BY chunk`,
    args: [size],
  });
  return rows.map((row) => ({
    chunk: Number(row["chunk"]),
    updated_at: Number(row["updated_at"]),
  }));
}
