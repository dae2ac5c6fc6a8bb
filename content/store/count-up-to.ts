import type { Queryable } from "./open.ts";

/** Counts what a query finds, at most `max`: a count that an operator sees need not walk through a million rows. */
export async function countUpTo(store: Queryable, max: number, query: string): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS found FROM (${query} LIMIT ?)`,
    args: [max],
  });
  return Number(rows[0]?.["found"] ?? 0);
}
