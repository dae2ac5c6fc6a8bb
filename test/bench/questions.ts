import { join } from "node:path";
import { unfiltered } from "#content/contract/search.ts";
import { searchIn } from "#content/find/search.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { stopWith } from "#scripts/support/config.ts";
import { ordinaryQuestions, type Question } from "./relevance/questions.ts";
import { figure, runBench } from "./support/harness.ts";
import { allRecords, importRegisters, registerFolder, runImport } from "./support/registers.ts";

/** How a question was answered: right is what its label says, or, where nothing answers it, to say so. */
type Outcome = { first: boolean; five: boolean; names: string[]; note: string | null };

async function answered(store: Store, { query, relevant }: Question): Promise<Outcome> {
  const page = await searchIn(store)({ ...unfiltered, q: query, limit: 5, offset: 0 });
  const names = (await summariesById(store, page.ids, "")).map(({ name }) => name);
  const { ids, note, matching } = page;
  const isSaid = relevant.size === 0 && matching === 0 && note !== null;
  const [foremost = -1] = ids;
  return {
    first: isSaid || relevant.has(foremost),
    five: isSaid || ids.some((id) => relevant.has(id)),
    names,
    note,
  };
}

await runBench({
  name: "questions",
  description:
    "Ordinary questions with labels by registers' own codes, names and missions (ALMONER_REGISTER_DATA). Change the search by --half tune alone; --half report is what docs/performance.md shows",
  options: {
    count: [400, "Questions"],
    half: ["report", "report or tune"],
    show: [
      0,
      "1: print each question with its first answers; 2: only those that were not answered",
    ],
    data: ["", "A folder that was filled by an earlier run"],
  },
  run: async ({ count, half, show, data, folder: fresh }) => {
    if (half !== "tune" && half !== "report") stopWith("--half: report or tune.", 2);
    const folder = data || fresh;
    if (data === "") {
      await importRegisters(folder, ["hi", "ri"]);
      const path = (name: string) => join(registerFolder(), name);
      await runImport(["irs-bmf", "--as-of", "2026-05-12", path("irs_bmf/eo4.csv.gz")], folder);
      await runImport(
        ["acnc", "--as-of", "2026-05-12", path("acnc/acnc_datadotgov_main_SAMPLE.csv")],
        folder,
      );
    }
    const store = await openStore({ url: `file:${join(folder, "store.db")}` });
    const records = await allRecords(store);
    const questions = ordinaryQuestions(records, { count, half, folder: registerFolder() });
    const outcomes: Outcome[] = [];
    for (const question of questions) {
      const outcome = await answered(store, question);
      outcomes.push(outcome);
      if (show === 0 || (show === 2 && outcome.first)) continue;
      const { first, five, names, note } = outcome;
      const mark = first ? "first" : five ? "five" : "none";
      console.error(
        [mark, question.query, question.relevant.size, names.join("; "), note ?? ""].join("\t"),
      );
    }
    store.close();
    const share = (of: (outcome: Outcome) => boolean) =>
      outcomes.filter(of).length / outcomes.length;
    return {
      title: `${questions.length} ordinary questions among ${records.length} organisations, half ${half}`,
      figures: [
        figure(
          "first answer right",
          share(({ first }) => first),
          "",
          { least: 0.85 },
        ),
        figure(
          "one of the first five right",
          share(({ five }) => five),
          "",
          { least: 0.95 },
        ),
      ],
    };
  },
});
