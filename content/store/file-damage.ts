import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { isDamaged } from "#content/runtime/files.ts";

/**
 * Whether Bun's SQLite finds damage in a file. A missing or locked file counts as sound. Reads the whole file, which takes
 * seconds for the manifest of a directory of a million.
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
