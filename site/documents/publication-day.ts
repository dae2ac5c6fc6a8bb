import { directoryFact } from "#content/operation/directory-store.ts";
import type { Source } from "./document.ts";

/** The day of a directory that was never published on a schedule: the day's rotation has to begin somewhere. */
const firstDay = "2026-01-01";

/** The day that documents are of, "YYYY-MM-DD": a fact of the store, so that the bundle is a function of it. */
export const publicationDay = async ({ store }: Pick<Source, "store">): Promise<string> =>
  (await directoryFact(store, "publication_day")) ?? firstDay;
