import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import registerColumns from "#content/editorial/register-columns.json";
import { startZip } from "#test/support/zip.ts";
import { type Figure, figure, runBench } from "./support/harness.ts";
import { registerFolder, runImport } from "./support/registers.ts";

/** Source: the project's figures. */
const perSecondMin = 400;
const megabytesMax = 250;
const againShareMax = 0.2;

const Report = z.object({
  rows: z.int(),
  changed: z.int(),
  unchanged: z.int(),
  known: z.int(),
  skipped_because: z.object({ other_form: z.int(), bad: z.int() }),
});

/** A zip file of real returns, again and again, each with an EIN of its own. */
function writeReturns(file: string, count: number): string[] {
  const source = join(registerFolder(), "irs_990_xml", "xml");
  const returns = readdirSync(source).map((name) => ({
    kind: /\d{8}(\d{5})/.exec(name)?.[1] ?? "93493",
    text: gunzipSync(readFileSync(join(source, name))).toString(),
  }));
  const zip = startZip();
  const to = openSync(file, "w");
  const eins = Array.from({ length: count }, (_, at) => String(100_000_000 + at));
  for (const [at, ein] of eins.entries()) {
    const { kind, text } = returns[at % returns.length] ?? { kind: "", text: "" };
    const name = `2023/20230${String(at % 1_000).padStart(3, "0")}${kind}${String(at).padStart(5, "0")}_public.xml`;
    const body = Buffer.from(text.replace(/<EIN>\d{9}/, `<EIN>${ein}`));
    writeSync(to, zip.member(name, body, { level: 1 }));
    // A process begins with the peak of the one that starts it, so this one stays small.
    if (at % 200 === 0) Bun.gc(true);
  }
  writeSync(to, zip.end());
  closeSync(to);
  return eins;
}

/** A master file that lists organisations of these numbers. */
function writeRegister(file: string, eins: readonly string[]): void {
  const columns = registerColumns["irs-bmf"];
  const given: Record<string, string> = {
    STATE: "NV",
    CITY: "RENO",
    SUBSECTION: "03",
    STATUS: "01",
    FOUNDATION: "15",
    NTEE_CD: "P20",
  };
  const rows = eins.map((ein) =>
    columns.map((name) =>
      name === "EIN" ? ein : name === "NAME" ? `SOCIETY ${ein}` : (given[name] ?? ""),
    ),
  );
  writeFileSync(file, `${[columns, ...rows].map((row) => row.join(",")).join("\n")}\n`);
}

await runBench({
  name: "filings",
  description:
    "Imports a zip file of real returns with other EINs, whose organisations a register lists, and once more, and prints what it took.",
  options: {
    count: [50_000, "How many returns"],
  },
  run: async ({ folder, count }) => {
    const zip = join(folder, "returns.zip");
    const register = join(folder, "eo_nv.csv");
    writeRegister(register, writeReturns(zip, count));
    await runImport(["irs-bmf", "--json", register], folder);
    const figures: Figure[] = [];
    let firstSeconds = 0;
    for (const [run, words] of [
      ["checked", ["--check"]],
      ["first import", []],
      ["the same again", []],
    ] as const) {
      const { out, seconds, cpuSeconds, peakMb } = await runImport(
        ["irs-990-xml", "--json", ...words, zip],
        folder,
      );
      const { rows, changed, unchanged, known, skipped_because } = Report.parse(JSON.parse(out));
      const isAgain = run === "the same again";
      firstSeconds ||= run === "first import" ? seconds : 0;
      figures.push(
        figure(`${run}: time`, seconds, "s"),
        figure(`${run}: processor time`, cpuSeconds, "s"),
        figure(`${run}: most memory`, peakMb, "MB", { most: megabytesMax }),
        ...(isAgain
          ? [
              figure(`${run}: share of the time`, seconds / firstSeconds, "", {
                most: againShareMax,
              }),
              figure(`${run}: known files`, known, ""),
            ]
          : [
              figure(`${run}: returns of one core`, count / cpuSeconds, "/s", {
                least: perSecondMin,
              }),
            ]),
        figure(`${run}: rows`, rows, ""),
        figure(`${run}: changed`, changed, ""),
        figure(`${run}: unchanged`, unchanged, ""),
        figure(`${run}: other forms`, skipped_because.other_form, ""),
      );
    }
    return { title: `Import of ${count} returns`, figures };
  },
});
