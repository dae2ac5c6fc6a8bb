import { type Column, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { WriteTransaction } from "#content/store/open.ts";
import type { Expiry } from "./kind.ts";

/** A table of requests that people send, with an index on those that wait, by time. */
type RequestTable = SQLiteTable & Record<"id" | "status" | "created_at", Column>;

/** Rejects the requests of a table that have waited longest. Answers how many. */
export async function expireRequests(
  tx: WriteTransaction,
  table: RequestTable,
  { before, at, limit }: Expiry,
): Promise<number> {
  const { rowsAffected } = await tx.db.run(sql`
    UPDATE ${table}
    SET status = 'rejected', reason = 'expired', reviewed_by = 'expiry', reviewed_at = ${at}, network = NULL
    WHERE id IN (
      SELECT ${table.id}
      FROM ${table}
      WHERE ${table.status} = 'pending_review' AND ${table.created_at} < ${before}
      ORDER BY ${table.created_at}
      LIMIT ${limit})`);
  return rowsAffected;
}
