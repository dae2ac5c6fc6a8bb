import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Figure, figure, runBench } from "./support/harness.ts";
import { registerFolder, runImport } from "./support/registers.ts";

/** What an import of all files may take. Source: the project's figures. */
const secondsMax = 25;
const megabytesMax = 400;

const Report = z.object({ rows: z.int(), added: z.int(), unchanged: z.int() });

await runBench({
  name: "import",
  description:
    "Imports the IRS master files of ALMONER_REGISTER_DATA into an empty store, then once more, and prints what it took.",
  options: {},
  run: async ({ folder }) => {
    const source = join(registerFolder(), "irs_bmf");
    const files = readdirSync(source).filter((name) => name.endsWith(".csv.gz"));
    const paths = files.toSorted().map((name) => join(source, name));
    const words = ["irs-bmf", "--json", ...paths];
    const figures: Figure[] = [];
    for (const run of ["first import", "the same again"]) {
      const { out, seconds, cpuSeconds, peakMb } = await runImport(words, folder);
      const { rows, added, unchanged } = Report.parse(JSON.parse(out));
      figures.push(
        figure(run, seconds, "s", { most: secondsMax }),
        figure(`${run}: most memory`, peakMb, "MB", { most: megabytesMax }),
        figure(`${run}: processor time`, cpuSeconds, "s"),
        figure(`${run}: rows`, rows, ""),
        figure(`${run}: added`, added, ""),
        figure(`${run}: organisations`, (added + unchanged) / seconds, "/s"),
      );
    }
    const { size } = statSync(join(folder, "store.db"));
    figures.push(figure("store", size / 2 ** 20, "MB"));
    return { title: `Import of ${files.length} files`, figures };
  },
});
