import { eq, like } from "drizzle-orm";
import type { z } from "zod";
import type { Queryable, WriteTransaction } from "./open.ts";
import { valuesOf } from "./query.ts";
import { directoryFacts } from "./tables/publishing.ts";

/** A fact about the whole directory, for example publication_day; null when it is not set. */
export async function directoryFact(store: Queryable, name: string): Promise<string | null> {
  const [value = null] = await valuesOf(store, directoryFacts.value, eq(directoryFacts.name, name));
  return value;
}

/** A fact that holds JSON of this shape; null when it is not set. */
export async function jsonFact<Value>(
  store: Queryable,
  name: string,
  shape: z.ZodType<Value>,
): Promise<Value | null> {
  const value = await directoryFact(store, name);
  return value === null ? null : shape.parse(JSON.parse(value));
}

/** Stores a fact that nothing published shows; for facts on pages use `saveDirectoryFact`. */
export async function noteFact(
  tx: WriteTransaction,
  { name, value, now }: { name: string; value: string; now: Date },
): Promise<void> {
  const row = { value, updated_at: now.getTime() };
  await tx.db
    .insert(directoryFacts)
    .values({ name, ...row })
    .onConflictDoUpdate({ target: directoryFacts.name, set: row });
}

/** The values of the facts whose names have this prefix. */
export const factsBeginning = (store: Queryable, beginning: string): Promise<string[]> => {
  const { name, value } = directoryFacts;
  return valuesOf(store, value, like(name, `${beginning}%`), { by: name });
};
