import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { fold } from "#content/nonprofit/text.ts";

/** A real organisation as far as a search is concerned. */
export type RegisterText = { name: string; mission: string | null; description: string | null };

type Source = { file: string; name: string; mission: string | null; description: string | null };

const sources: readonly Source[] = [
  {
    file: "prose/missions_irs990.csv.gz",
    name: "name",
    mission: "mission",
    description: "programme",
  },
  { file: "prose/missions_uk.csv.gz", name: "name", mission: "activities", description: "objects" },
  { file: "irs_bmf/eo_ct.csv.gz", name: "NAME", mission: null, description: null },
  { file: "irs_bmf/eo_dc.csv.gz", name: "NAME", mission: null, description: null },
];

const descriptionLengthMax = 1_500;
const missionLengthMax = 1_000;

/**
 * Names, missions and descriptions of real organisations from public registers, in the order of the files; each name
 * once. `folder` holds the register data; throws with the file's name when one is missing.
 */
export function registerTexts(folder: string, countMax: number): RegisterText[] {
  const found = new Map<string, RegisterText>();
  for (const { file, name, mission, description } of sources) {
    const path = join(folder, file);
    if (!existsSync(path)) throw new Error(`${path} is missing`);
    const rows: Record<string, string>[] = parse(gunzipSync(readFileSync(path)), {
      columns: true,
      relax_quotes: true,
      relax_column_count: true,
    });
    for (const row of rows) {
      if (found.size >= countMax) break;
      const key = fold(row[name] ?? "");
      if (key === "" || found.has(key)) continue;
      found.set(key, {
        name: row[name] ?? "",
        mission: textOf(row, mission, missionLengthMax),
        description: textOf(row, description, descriptionLengthMax),
      });
    }
  }
  return [...found.values()];
}

const textOf = (row: Record<string, string>, column: string | null, lengthMax: number) =>
  (column === null ? "" : (row[column] ?? "")).trim().slice(0, lengthMax) || null;
