import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import lunr from "lunr";
import MiniSearch from "minisearch";
import { emptyRecord } from "#content/nonprofit/record.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { fold } from "#content/nonprofit/text.ts";
import { searchIn } from "#content/search/search.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { stopWith } from "../support/config.ts";
import { randomOf } from "../seed/random.ts";
import { type Figure, figure, runBench } from "./support/harness.ts";

/** A real organisation as far as a search is concerned. */
type RegisterText = { name: string; mission: string | null; description: string | null };

/** Which columns of a file name it and say what it does. */
type Source = { file: string; name: string; mission?: string; description?: string };

const sources: readonly Source[] = [
  {
    file: "prose/missions_irs990.csv.gz",
    name: "name",
    mission: "mission",
    description: "programme",
  },
  { file: "prose/missions_uk.csv.gz", name: "name", mission: "activities", description: "objects" },
  { file: "irs_bmf/eo_ct.csv.gz", name: "NAME" },
  { file: "irs_bmf/eo_dc.csv.gz", name: "NAME" },
];

const missionLengthMax = 1_000;
const descriptionLengthMax = 1_500;

/** Real organisations from public registers, in the order of the files; each name once. */
function registerTexts(folder: string, countMax: number): RegisterText[] {
  const found = new Map<string, RegisterText>();
  for (const { file, name, mission = "", description = "" } of sources) {
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
        mission: textOf(row[mission], missionLengthMax),
        description: textOf(row[description], descriptionLengthMax),
      });
    }
  }
  return [...found.values()];
}

const textOf = (text = "", lengthMax: number): string | null =>
  text.trim().slice(0, lengthMax) || null;

type KnownItem = { kind: string; query: string; at: number };

/** Queries as people make them of what they remember. */
function knownItems(texts: readonly RegisterText[], countEach: number): KnownItem[] {
  const { below } = randomOf(11, 0);
  const words = (text: string, least: number, make: (words: string[]) => string[]) => {
    const all = text.split(" ");
    return all.length < least ? null : make(all).join(" ");
  };
  const kinds: Record<string, (text: RegisterText) => string | null> = {
    "whole name": ({ name }) => name,
    "first words of name": ({ name }) => words(fold(name), 3, (all) => all.slice(0, -1)),
    "name, a word left out": ({ name }) => words(fold(name), 3, (all) => all.toSpliced(1, 1)),
    "name, half-typed end": ({ name }) =>
      words(fold(name), 2, (all) => [...all.slice(0, -1), (all.at(-1) ?? "").slice(0, 4)]),
    "four words of mission": ({ mission }) =>
      words((mission ?? "").replaceAll(/\s+/g, " "), 8, (all) => {
        const at = below(all.length - 4);
        return all.slice(at, at + 4);
      }),
    "name word and mission words": ({ name, mission }) => {
      const long = fold(mission ?? "").match(/\S{5,}/g) ?? [];
      const at = below(long.length - 2);
      const [own] = fold(name).split(" ");
      return long.length < 4 ? null : `${own} ${long[at]} ${long[at + 1]}`;
    },
  };
  return Object.entries(kinds).flatMap(([kind, make]) => {
    const items: KnownItem[] = [];
    for (let tried = 0; items.length < countEach && tried < countEach * 20; tried++) {
      const at = below(texts.length);
      const text = texts[at];
      const query = text === undefined ? null : make(text);
      if (query !== null) items.push({ kind, query, at });
    }
    return items;
  });
}

/** Answers the places (in the list of documents) of the best ten. */
type Engine = { name: string; find: (query: string) => Promise<number[]> };

const bestOf = 10;
const batchSize = 1_000;
/** For the others: the weights under which they did better of those tried. */
const boosts = { name: 10, mission: 2, description: 1 };

async function almoner(texts: readonly RegisterText[], store: Store): Promise<Engine> {
  for (let at = 0; at < texts.length; at += batchSize) {
    const saves = texts.slice(at, at + batchSize).map((text, place) => ({
      before: null,
      after: { ...emptyRecord, ...text, id: at + place + 1, slug: `n${at + place}` },
    }));
    await store.write((tx) => saveNonprofits(tx, saves, { origin: "seed", now: new Date(0) }));
  }
  const search = searchIn(store);
  const none = {
    cause: null,
    country: null,
    ghd_aligned: false,
    literal: false,
    limit: bestOf,
    offset: 0,
  };
  const find = async (q: string) => (await search({ ...none, q }, 0)).ids.map((id) => id - 1);
  return { name: "almoner", find };
}

function withLunr(texts: readonly RegisterText[]): Engine {
  const index = lunr((builder) => {
    builder.ref("at");
    for (const [field, boost] of Object.entries(boosts)) builder.field(field, { boost });
    for (const [at, text] of texts.entries()) builder.add({ at, ...text });
  });
  const find = async (query: string) =>
    index
      .query((asked) => {
        const words = lunr.tokenizer(query).map(String);
        asked.term(words, {});
        // The last word may be half typed: the same courtesy as in this search.
        const last = words.at(-1);
        if (last !== undefined) {
          asked.term(last, { wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false });
        }
      })
      .slice(0, bestOf)
      .map(({ ref }) => Number(ref));
  return { name: "lunr", find };
}

function withMiniSearch(texts: readonly RegisterText[]): Engine {
  const index = new MiniSearch({ fields: Object.keys(boosts), idField: "at" });
  index.addAll(texts.map((text, at) => ({ at, ...text })));
  const find = async (query: string) =>
    index
      .search(query, { boost: boosts, prefix: (_, place, words) => place === words.length - 1 })
      .slice(0, bestOf)
      .map(({ id }) => Number(id));
  return { name: "MiniSearch", find };
}

/** Mean reciprocal rank and the share found, by kind of query and over all. */
async function scores({ name, find }: Engine, items: readonly KnownItem[]): Promise<Figure[]> {
  const startMs = performance.now();
  const ranked: { kind: string; rank: number }[] = [];
  for (const { kind, query, at } of items) {
    ranked.push({ kind, rank: (await find(query)).indexOf(at) + 1 });
  }
  const eachMs = (performance.now() - startMs) / items.length;
  const mean = (what: string, of: typeof ranked, value: (rank: number) => number) =>
    figure(`${name}, ${what}`, of.reduce((sum, { rank }) => sum + value(rank), 0) / of.length, "");
  const reciprocal = (rank: number) => (rank === 0 ? 0 : 1 / rank);
  return [
    ...[...Map.groupBy(ranked, ({ kind }) => kind)].map(([kind, of]) =>
      mean(`${kind}: MRR`, of, reciprocal),
    ),
    mean("all: MRR", ranked, reciprocal),
    mean("all: found in the first ten", ranked, (rank) => Math.sign(rank)),
    figure(`${name}, each query`, eachMs, "ms"),
  ];
}

await runBench({
  name: "relevance",
  description:
    "Known items: organisations are looked for by parts of their real names and missions (register data in ALMONER_REGISTER_DATA), by this search, by lunr and by MiniSearch",
  options: {
    documents: [20_000, "Organisations"],
    queries: [500, "Queries of each kind"],
  },
  run: async ({ documents, queries, folder }) => {
    const data = process.env["ALMONER_REGISTER_DATA"] ?? "";
    if (data === "") stopWith("ALMONER_REGISTER_DATA names no folder of real registers.", 2);
    const texts = registerTexts(data, documents);
    const items = knownItems(texts, queries);
    const store = await openStore({ url: `file:${join(folder, "store.db")}`, synchronous: "OFF" });
    const figures: Figure[] = [];
    for (const engine of [await almoner(texts, store), withLunr(texts), withMiniSearch(texts)]) {
      figures.push(...(await scores(engine, items)));
    }
    store.close();
    return { title: `Known items among ${texts.length} register texts`, figures };
  },
});
