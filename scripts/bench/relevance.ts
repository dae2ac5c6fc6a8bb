import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { defineCommand } from "citty";
import { parse } from "csv-parse/sync";
import lunr from "lunr";
import MiniSearch from "minisearch";
import { emptyRecord } from "#content/nonprofit/record.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { fold } from "#content/nonprofit/text.ts";
import { searchIn } from "#content/search/search.ts";
import { openStore } from "#content/store/open.ts";
import { runCommand } from "#scripts/support/command.ts";
import { numbers } from "./support/load.ts";

/** Answers the places (in the list of documents) of the best ten. */
type Engine = { name: string; find: (query: string) => Promise<number[]> };
type KnownItem = { kind: string; query: string; at: number };

const bestOf = 10;
/** For the others: the weights under which they did better of those tried. */
const boosts = { name: 10, mission: 2, description: 1 };

const command = defineCommand({
  meta: {
    name: "bench relevance",
    description:
      "Known items: organisations are looked for by parts of their real names and missions (register data in ALMONER_REGISTER_DATA), by this search, by lunr and by MiniSearch",
  },
  args: {
    documents: { type: "string", default: "20000", description: "Organisations" },
    queries: { type: "string", default: "500", description: "Queries of each kind" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const folder = process.env["ALMONER_REGISTER_DATA"];
    if (folder === undefined) {
      console.log("Skipped: ALMONER_REGISTER_DATA names no folder with register data.");
      return;
    }
    const texts = registerTexts(folder, Number(args.documents));
    const items = knownItems(texts, Number(args.queries));
    const ours = await almoner(texts);
    const rows = [];
    for (const engine of [ours.engine, withLunr(texts), withMiniSearch(texts)]) {
      rows.push(...(await scores(engine, items)));
    }
    ours.close();
    if (args.json === true) console.log(JSON.stringify({ documents: texts.length, rows }));
    else console.table(rows);
  },
});

/** Queries as people make them of what they remember. */
function knownItems(texts: readonly RegisterText[], countEach: number): KnownItem[] {
  const random = numbers(11);
  const kinds: Record<string, (text: RegisterText) => string | null> = {
    "whole name": ({ name }) => name,
    "first words of name": ({ name }) => wordsIf(fold(name).split(" "), 3, (w) => w.slice(0, -1)),
    "name, a word left out": ({ name }) =>
      wordsIf(fold(name).split(" "), 3, (w) => w.toSpliced(1, 1)),
    "name, half-typed end": ({ name }) =>
      wordsIf(fold(name).split(" "), 2, (w) => [...w.slice(0, -1), (w.at(-1) ?? "").slice(0, 4)]),
    "four words of mission": ({ mission }) => {
      const words = (mission ?? "").split(/\s+/);
      const at = Math.floor(random() * (words.length - 4));
      return words.length < 8 ? null : words.slice(at, at + 4).join(" ");
    },
    "name word and mission words": ({ name, mission }) => {
      const words = fold(mission ?? "")
        .split(" ")
        .filter((word) => word.length > 4);
      const at = Math.floor(random() * (words.length - 2));
      const [own] = fold(name).split(" ");
      return words.length < 4 || own === undefined ? null : `${own} ${words[at]} ${words[at + 1]}`;
    },
  };
  return Object.entries(kinds).flatMap(([kind, make]) => {
    const items: KnownItem[] = [];
    for (let tried = 0; items.length < countEach && tried < countEach * 20; tried++) {
      const at = Math.floor(random() * texts.length);
      const text = texts[at];
      const query = text === undefined ? null : make(text);
      if (query !== null) items.push({ kind, query, at });
    }
    return items;
  });
}

const wordsIf = (words: string[], least: number, make: (words: string[]) => string[]) =>
  words.length < least ? null : make(words).join(" ");

async function scores({ name, find }: Engine, items: readonly KnownItem[]) {
  const byKind = new Map<string, { count: number; reciprocal: number; found: number }>();
  let spentMs = 0;
  for (const { kind, query, at } of items) {
    const startMs = performance.now();
    const rank = (await find(query)).indexOf(at) + 1;
    spentMs += performance.now() - startMs;
    for (const key of [kind, "ALL"]) {
      const sum = byKind.get(key) ?? { count: 0, reciprocal: 0, found: 0 };
      sum.count += 1;
      sum.reciprocal += rank === 0 ? 0 : 1 / rank;
      sum.found += rank === 0 ? 0 : 1;
      byKind.set(key, sum);
    }
  }
  return [...byKind].map(([kind, { count, reciprocal, found }]) => ({
    engine: name,
    kind,
    MRR: Number((reciprocal / count).toFixed(3)),
    "recall@10": Number((found / count).toFixed(3)),
    "ms a query": kind === "ALL" ? Number((spentMs / count).toFixed(2)) : null,
  }));
}

const batchSize = 1_000;

async function almoner(texts: readonly RegisterText[]) {
  const folder = mkdtempSync(join(tmpdir(), "almoner-relevance-"));
  const store = await openStore({ url: `file:${join(folder, "store.db")}`, synchronous: "OFF" });
  for (let at = 0; at < texts.length; at += batchSize) {
    const saves = texts.slice(at, at + batchSize).map((text, place) => ({
      before: null,
      after: { ...emptyRecord, ...text, id: at + place + 1, slug: `n${at + place}` },
    }));
    await store.write((tx) => saveNonprofits(tx, saves, { origin: "seed", now: new Date(0) }));
  }
  const search = searchIn(store);
  const none = { cause: null, country: null, ghd_aligned: false, limit: bestOf, offset: 0 };
  const engine: Engine = {
    name: "almoner",
    find: async (q) => (await search({ ...none, q }, 0)).ids.map((id) => id - 1),
  };
  const close = () => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { engine, close };
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

await runCommand(command);
