import { eq, like } from "drizzle-orm";
import type { z } from "zod";
import type { Queryable, WriteTransaction } from "./open.ts";
import { directoryFacts } from "./tables/publishing.ts";

/** A fact about the whole directory, for example publication_day; null when it is not set. */
export async function directoryFact(store: Queryable, name: string): Promise<string | null> {
  const [fact] = await store.db
    .select({ value: directoryFacts.value })
    .from(directoryFacts)
    .where(eq(directoryFacts.name, name));
  return fact?.value ?? null;
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
export async function factsBeginning(store: Queryable, beginning: string): Promise<string[]> {
  const { name, value } = directoryFacts;
  const facts = await store.db
    .select({ value })
    .from(directoryFacts)
    .where(like(name, `${beginning}%`))
    .orderBy(name);
  return facts.map((fact) => fact.value);
}
