import type { InValue } from "@libsql/client";
import type { Query } from "drizzle-orm";
import { drizzle } from "drizzle-orm/libsql";
import type { WriteTransaction } from "./open.ts";

/** A statement that changes something, with its values, as libSQL takes it: to be done in a transaction or sent in a batch. */
export type Statement = { readonly sql: string; readonly args: InValue[] };

/** What builds statements in drizzle's words. It has no store, so it does none of them. */
export const builder: Pick<WriteTransaction["db"], "insert" | "update" | "delete" | "select"> =
  drizzle.mock();

/** What was built, as a statement. */
export function statement(built: { toSQL(): Query }): Statement {
  const { sql, params } = built.toSQL();
  // They were encoded for the columns they are for.
  return { sql, args: params as InValue[] };
}

/** Does statements one after another. */
export async function doAll(tx: WriteTransaction, statements: readonly Statement[]): Promise<void> {
  for (const one of statements) await tx.raw.execute(one);
}
