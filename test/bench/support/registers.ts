import { join } from "node:path";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Store } from "#content/store/open.ts";
import { stopWith } from "#scripts/support/config.ts";
import { timed } from "./harness.ts";

const script = join(import.meta.dirname, "../../../scripts/import.ts");

/** The folder of real registers' files; ends the process where none is named. */
export const registerFolder = (): string =>
  process.env["ALMONER_REGISTER_DATA"] ||
  stopWith("ALMONER_REGISTER_DATA names no folder of real registers.", 2);

/** Runs `import` on an empty data folder, as an operator would. */
export const runImport = (words: readonly string[], dataDir: string) =>
  timed([process.execPath, script, ...words], {
    ALMONER_DATA_DIR: dataDir,
    ALMONER_DATABASE_URL: "",
  });

/** All profiles of a store. */
export async function allRecords(store: Store): Promise<NonprofitRecord[]> {
  const { rows } = await store.raw.execute("SELECT id FROM nonprofits ORDER BY id");
  const ids = rows.map((row) => Number(row["id"]));
  const records: NonprofitRecord[] = [];
  for (let at = 0; at < ids.length; at += batchSize) {
    records.push(...(await recordsById(store, ids.slice(at, at + batchSize))));
  }
  return records;
}

const batchSize = 1_000;

/** Fills a data folder with two files of the UK and those of these states of the IRS master file. */
export async function importRegisters(dataDir: string, states: readonly string[]): Promise<void> {
  const sources = {
    "irs-bmf": states.map((state) => `irs_bmf/eo_${state}.csv.gz`),
    ukcat: ["uk_ukcat/sample.csv.gz", "uk_ukcat/top2000.csv.gz"],
  };
  for (const [format, files] of Object.entries(sources)) {
    const paths = files.map((file) => join(registerFolder(), file));
    await runImport([format, "--as-of", "2026-05-12", ...paths], dataDir);
  }
}
