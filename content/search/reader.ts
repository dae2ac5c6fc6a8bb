import { createClient } from "@libsql/client";
import { prepareLoading } from "./load-postings.ts";
import { queryable, type Queryable } from "#content/store/open.ts";

/** A connection of its own that only reads, for a thread beside the one that opened the store. */
export type Reader = Queryable & { close(): void };

/** Opens an embedded store (`file:`) for reading. Its tables must be up to date already. */
export async function openReader(url: string): Promise<Reader> {
  const client = createClient({ url, timeout: 1_000, concurrency: 1 });
  await prepareLoading(queryable(client));
  await client.execute("PRAGMA query_only = 1");
  return { ...queryable(client), close: () => client.close() };
}
