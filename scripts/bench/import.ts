import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { stopWith } from "../support/config.ts";
import { type Figure, figure, runBench, timed } from "./support/harness.ts";

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
    const data = process.env["ALMONER_REGISTER_DATA"] ?? "";
    if (data === "") stopWith("ALMONER_REGISTER_DATA names no folder of real registers.", 2);
    const source = join(data, "irs_bmf");
    const files = readdirSync(source).filter((name) => name.endsWith(".csv.gz"));
    const paths = files.toSorted().map((name) => join(source, name));
    const script = join(import.meta.dirname, "../import.ts");
    const words = [process.execPath, script, "irs-bmf", "--json", ...paths];
    const env = { ALMONER_DATA_DIR: folder, ALMONER_DATABASE_URL: "" };
    const figures: Figure[] = [];
    for (const run of ["first import", "the same again"]) {
      const { out, seconds, cpuSeconds, peakMb } = await timed(words, env);
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
