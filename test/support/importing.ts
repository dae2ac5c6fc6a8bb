import { aFolder, forFile } from "./at-file-top.ts";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import type { RegisteredNumber } from "#content/register/standing.ts";
import { knownByOrgId } from "#content/register/standing-store.ts";
import { type ImportRequest, runImport } from "#scripts/import/run-import.ts";
import { openBlankStore } from "#test/support/blank-store.ts";

const registers = join(import.meta.dirname, "registers");

/** What a promise ends with, as text: the message of its error, or the value. */
export const outcome = (promise: Promise<unknown>): Promise<string> => promise.then(String, String);

/** A hand-written file in a register's format. */
export const registerFile = (name: string): string => join(registers, name);

export type TestImporting = Awaited<ReturnType<typeof anImporting>>;

/** What an operator asks for who gives no options. */
export const importRequest = (
  { store, dataDir }: Pick<ImportRequest, "store" | "dataDir">,
  format: string,
): Omit<ImportRequest, "files" | "fetched"> => ({
  store,
  dataDir,
  format,
  asOf: null,
  skipBad: false,
  checkOnly: false,
  scope: null,
  allowManyWithdrawals: false,
  clock: () => new Date("2026-12-01T12:00:00Z"),
  signal: new AbortController().signal,
  onProgress: () => {},
  onCovered: () => {},
  onSkipped: () => {},
});

/** Importing into an empty store in a temporary folder: in steps, or `alone`, as the command does. Close it after the test. */
export async function anImporting({ alone = false } = {}) {
  const folder = aFolder();
  const dataDir = folder();
  const url = `file:${folder("store.db")}`;
  const store = await openBlankStore(url, { synchronous: "OFF", oneConnection: alone });
  const column = async (sql: string) => {
    const { rows } = await store.raw.execute(sql);
    return rows.map((row) => String(row[0]));
  };
  const close = () => {
    store.close();
    folder.close();
  };
  const known = async (orgId: string): Promise<RegisteredNumber> => {
    const [number = { records: [], profile: null }] = await knownByOrgId(store, [orgId]);
    return number;
  };
  return {
    dataDir,
    store,
    known,
    /** The facts that each register says of an organisation. */
    facts: async (orgId: string): Promise<Record<string, RegisterRecord["facts"]>> => {
      const { records } = await known(orgId);
      return Object.fromEntries(records.map(({ register, facts }) => [register, facts]));
    },
    /** Imports files of test/support/registers, or files by their full path. */
    run: (format: string, files: string[], parts: Partial<ImportRequest> = {}) =>
      runImport({
        ...importRequest({ store, dataDir }, format),
        files: files.map((name) => (name.includes("/") ? name : registerFile(name))),
        fetched: null,
        asOf: "2026-05-12",
        ...parts,
      }),
    /** Writes a file of its own for one test; answers its path. */
    file: (name: string, content: string | Uint8Array) => {
      const path = folder(name);
      writeFileSync(path, content);
      return path;
    },
    record: (slug: string) => recordBySlug(store, slug),
    slugs: () => column("SELECT slug FROM nonprofits ORDER BY id"),
    changes: () => column("SELECT kind || ' ' || slug FROM changes ORDER BY sequence"),
    /** What lies about in the data folder beside the store. */
    leftovers: () => readdirSync(dataDir).filter((name) => name.endsWith(".staging")),
    close,
    [Symbol.dispose]: close,
  };
}

export const theImporting = forFile(anImporting);
