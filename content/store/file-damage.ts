import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { isDamaged } from "#content/runtime/files.ts";

/**
 * Whether Bun's SQLite finds damage in a file. One that is missing has none, and one that is held is in order. Reads all of
 * it: seconds for the manifest of a directory of a million.
 */
export function isFileDamaged(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    using db = new Database(path, { readonly: true });
    return (
      db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check !== "ok"
    );
  } catch (error) {
    return isDamaged(error);
  }
}
