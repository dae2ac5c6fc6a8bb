import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Figure, figure, runBench } from "./support/harness.ts";
import { writeRegisterRows } from "./support/register-rows.ts";
import { registerFolder, runImport } from "./support/registers.ts";

const megabytesMax = 250;
/** A first import may write so many times the size of the store. */
const timesWrittenMax = 4;

const Report = z.object({ rows: z.int(), added: z.int(), unchanged: z.int() });

await runBench({
  name: "import",
  description:
    "Imports the IRS master files of ALMONER_REGISTER_DATA into an empty store, then once more, and prints what it took.",
  options: {
    profiles: [0, "Of real rows over and over, each time with other EINs and names; 0: each once"],
  },
  run: async ({ folder, profiles }) => {
    const source = join(registerFolder(), "irs_bmf");
    const real = readdirSync(source).filter((name) => name.endsWith(".csv.gz"));
    const rowsPath = join(folder, "rows.csv");
    if (profiles > 0) writeRegisterRows(rowsPath, { profiles, folder: source });
    const paths = profiles > 0 ? [rowsPath] : real.toSorted().map((name) => join(source, name));
    const data = join(folder, "data");
    const figures: Figure[] = [];
    for (const run of ["first import", "the same again"]) {
      const words = ["irs-bmf", "--json", "--as-of", "2026-05-12", ...paths];
      const { out, seconds, cpuSeconds, peakMb, writtenMb } = await runImport(words, data);
      const { rows, added, unchanged } = Report.parse(JSON.parse(out));
      const storeMb = statSync(join(data, "store.db")).size / 2 ** 20;
      const isFirst = run === "first import";
      figures.push(
        figure(run, seconds, "s"),
        figure(`${run}: processor time`, cpuSeconds, "s"),
        figure(`${run}: most memory`, peakMb, "MB", { most: megabytesMax }),
        figure(
          `${run}: written`,
          writtenMb,
          "MB",
          isFirst ? { most: timesWrittenMax * storeMb } : {},
        ),
        figure(`${run}: store`, storeMb, "MB"),
        figure(`${run}: rows`, rows, ""),
        figure(`${run}: added`, added, ""),
        figure(`${run}: organisations`, (added + unchanged) / seconds, "/s"),
      );
    }
    return { title: `Import of ${paths.length} files`, figures };
  },
});
