import { join } from "node:path";
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
