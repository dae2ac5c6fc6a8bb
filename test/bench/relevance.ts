import { join } from "node:path";
import lunr from "lunr";
import MiniSearch from "minisearch";
import { countryName } from "#content/nonprofit/country.ts";
import { unfiltered } from "#content/contract/search.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { searchIn } from "#content/find/search.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { stopWith } from "#scripts/support/config.ts";
import { kinds, type Labelled, labelledQueries } from "./relevance/queries.ts";
import { type Figure, figure, runBench } from "./support/harness.ts";
import { allRecords, importRegisters } from "./support/registers.ts";

/** What is asked of this search. Source: the project's figures. */
const asked: Partial<Record<string, { mrr?: number; found?: number }>> = {
  "exact name": { mrr: 0.97 },
  "name with a mistake": { mrr: 0.85 },
  "cause and place": { found: 0.9 },
  number: { mrr: 1 },
};

/** Imports real registers and answers all records. */
async function imported(folder: string): Promise<[Store, NonprofitRecord[]]> {
  await importRegisters(folder, ["hi", "vt", "ri", "ak"]);
  const store = await openStore({ url: `file:${join(folder, "store.db")}` });
  return [store, await allRecords(store)];
}

const bestOf = 10;

/** Answers the ids of the best ten. */
type Engine = { name: string; find: (query: string) => Promise<number[]> };

function withAlmoner(_: readonly NonprofitRecord[], store: Store): Engine {
  const search = searchIn(store);
  const find = async (q: string) =>
    (await search({ ...unfiltered, q, limit: bestOf, offset: 0 }, 0)).ids;
  return { name: "almoner", find };
}

/** The same data for the others, with all that a query may name as text. */
const documentOf = (record: NonprofitRecord) => ({
  id: record.id,
  name: record.name,
  mission: `${record.tagline ?? ""} ${record.mission ?? ""}`,
  description: record.description ?? "",
  place: [record.city, record.region, countryName(record.country_code)].join(" "),
  causes: record.causes.join(" ").replaceAll("-", " "),
  numbers: record.registrations
    .map(({ registration_number, org_id }) => `${registration_number} ${org_id}`)
    .join(" "),
});

/** For the others: the weights under which they did better of those tried. */
const boosts = { name: 10, place: 4, causes: 4, numbers: 10, mission: 2, description: 1 };
/** Mistakes that the others forgive, as a share of a word's length or in letters. */
const fuzziness = { miniSearch: 0.2, lunr: 1 };

function withLunr(records: readonly NonprofitRecord[]): Engine {
  const index = lunr((builder) => {
    builder.ref("id");
    for (const [field, boost] of Object.entries(boosts)) builder.field(field, { boost });
    for (const record of records) builder.add(documentOf(record));
  });
  const find = async (query: string) =>
    index
      .query((wanted) => {
        const words = lunr.tokenizer(query).map(String);
        wanted.term(words, { boost: 10 });
        wanted.term(
          words.filter((word) => word.length > 4),
          { editDistance: fuzziness.lunr },
        );
      })
      .slice(0, bestOf)
      .map(({ ref }) => Number(ref));
  return { name: "lunr", find };
}

function withMiniSearch(records: readonly NonprofitRecord[]): Engine {
  const index = new MiniSearch({ fields: Object.keys(boosts), idField: "id" });
  index.addAll(records.map(documentOf));
  const find = async (query: string) =>
    index
      .search(query, { boost: boosts, fuzzy: fuzziness.miniSearch })
      .slice(0, bestOf)
      .map(({ id }) => Number(id));
  return { name: "MiniSearch", find };
}

/** For each kind the mean reciprocal rank of the first right answer, and the share of queries with one among five. */
async function scores(
  { name, find }: Engine,
  queries: readonly Labelled[],
  verbose: boolean,
): Promise<Figure[]> {
  const startMs = performance.now();
  const ranks = new Map<Labelled, number>();
  for (const labelled of queries) {
    const found = await find(labelled.query);
    ranks.set(labelled, found.findIndex((id) => labelled.relevant.has(id)) + 1);
  }
  const eachMs = (performance.now() - startMs) / queries.length;
  if (verbose) {
    for (const [{ kind, query }, rank] of ranks) {
      if (rank !== 1) console.error(`${name}\t${kind}\t${rank}\t${query}`);
    }
  }
  const figures = kinds.flatMap((kind) => {
    const of = [...ranks].filter(([labelled]) => labelled.kind === kind).map(([, rank]) => rank);
    const mean = (value: (rank: number) => number) =>
      of.reduce((sum, rank) => sum + value(rank), 0) / of.length;
    const least = name === "almoner" ? asked[kind] : undefined;
    const mrr = mean((rank) => (rank === 0 ? 0 : 1 / rank));
    const found = mean((rank) => (rank >= 1 && rank <= 5 ? 1 : 0));
    return [
      figure(`${name}, ${kind} (${of.length}): MRR`, mrr, "", { least: least?.mrr }),
      figure(`${name}, ${kind}: among the first five`, found, "", { least: least?.found }),
    ];
  });
  return [...figures, figure(`${name}, each query`, eachMs, "ms")];
}

await runBench({
  name: "relevance",
  description:
    "Labelled queries of six kinds, made from real registers (ALMONER_REGISTER_DATA), for this search, lunr and MiniSearch. Change the search by --half tune alone; --half report is what docs/performance.md shows",
  options: {
    queries: [100, "Queries of each kind"],
    half: ["report", "report or tune"],
    misses: [0, "1: print each query of which the first answer is wrong"],
  },
  run: async ({ queries: each, half, misses, folder }) => {
    if (half !== "tune" && half !== "report") stopWith("--half: report or tune.", 2);
    const [store, records] = await imported(folder);
    const queries = labelledQueries(records, { each, half });
    const figures: Figure[] = [];
    for (const engineOf of [withAlmoner, withMiniSearch, withLunr]) {
      figures.push(...(await scores(engineOf(records, store), queries, misses > 0)));
    }
    store.close();
    const title = `${queries.length} labelled queries among ${records.length} organisations, half ${half}`;
    return { title, figures };
  },
});
