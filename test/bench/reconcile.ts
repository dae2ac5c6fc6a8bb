import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { batchMax, type Candidate } from "#content/contract/reconciliation.ts";
import { readableName } from "#content/register/names.ts";
import { tellingText } from "#content/find/query.ts";
import type { Store } from "#content/store/open.ts";
import { type Random, randomOf } from "#scripts/seed/numbers.ts";
import { damaged } from "./reconcile/damage.ts";
import { cpuMs, type Figure, figure, quantile, runBench } from "./support/harness.ts";
import { importRegisters, registerFolder } from "./support/registers.ts";
import { serve, type Served } from "./support/serve.ts";

/** Of Montana, which is not imported: names that are in no profile. */
const absentFrom = "irs_bmf/eo_mt.csv.gz";

type Row = { id: string; name: string; city: string | null; country: string | null };
/** A damaged name with what a spreadsheet has beside it; `slug` null: the directory has no such nonprofit. */
type Case = { query: string; properties: { pid: string; v: string }[]; slug: string | null };

const keyOf = (name: string): string => tellingText(name).split(" ").sort().join(" ");

/** One in four with city and country, one in four with the country; only names that this leaves without a namesake. */
function damagedNames(all: readonly Row[], count: number): Case[] {
  const random = randomOf(15, 9);
  const byName = Map.groupBy(all, ({ name }) => keyOf(name));
  const cases: Case[] = [];
  while (cases.length < count) {
    const { id, name, city, country } = random.pick(all);
    const beside = besideName(random, { city, country });
    const fits = (one: Row) =>
      beside.every(({ pid, v }) => (pid === "city" ? one.city : one.country) === v);
    if ((byName.get(keyOf(name)) ?? []).filter(fits).length > 1) continue;
    cases.push({ query: damaged(name, random), properties: beside, slug: id });
  }
  return cases;
}

function absentNames(all: readonly Row[], count: number): Case[] {
  const random = randomOf(15, 10);
  const known = new Set(all.map(({ name }) => keyOf(name)));
  const lines = gunzipSync(readFileSync(join(registerFolder(), absentFrom)))
    .toString()
    .split("\n")
    .slice(1)
    .map((line) => line.split(","))
    .filter(([, name = ""]) => name !== "" && !known.has(keyOf(readableName(name))));
  return Array.from({ length: count }, () => {
    const [, name = "", , , city = ""] = random.pick(lines);
    const properties = besideName(random, { city: readableName(city), country: "US" });
    return { query: damaged(readableName(name), random), properties, slug: null };
  });
}

function besideName({ below }: Random, { city, country }: Pick<Row, "city" | "country">) {
  const drawn = below(4);
  return [
    ...(drawn === 0 && city !== null ? [{ pid: "city", v: city }] : []),
    ...(drawn <= 1 && country !== null ? [{ pid: "country", v: country }] : []),
  ];
}

type Answered = { asked: Case; right: boolean; best: Candidate | null; ahead: number };

/** Sends them in batches, one after another. */
async function answersTo(url: string, cases: readonly Case[]) {
  const answers: Answered[] = [];
  const timesMs: number[] = [];
  for (let from = 0; from < cases.length; from += batchMax) {
    const batch = cases.slice(from, from + batchMax);
    const queries = Object.fromEntries(
      batch.map(({ query, properties }, at) => [`q${at}`, { query, properties, limit: 2 }]),
    );
    const startMs = performance.now();
    const found = await posted(url, queries);
    timesMs.push(performance.now() - startMs);
    answers.push(...batch.map((asked, at) => answered(asked, found[`q${at}`]?.result ?? [])));
  }
  return { answers, timesMs };
}

const answered = (asked: Case, [best, next]: readonly Candidate[]): Answered => ({
  asked,
  right: asked.slug !== null && best?.id === asked.slug,
  best: best ?? null,
  ahead: (best?.score ?? 0) - (next?.score ?? 0),
});

async function posted(url: string, queries: object) {
  const body = new URLSearchParams({ queries: JSON.stringify(queries) });
  const response = await fetch(`${url}/reconcile`, { method: "POST", body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, { result: Candidate[] }>;
}

/** Processor time that the service takes for a name, by the batch and by searches, in turns over the same names. */
async function costs({ url, pid }: Served, names: readonly Case[]) {
  const spent = { reconcile: 0, search: 0 };
  const used = async (work: () => Promise<unknown>) => {
    const before = await cpuMs(pid);
    await work();
    return (await cpuMs(pid)) - before;
  };
  for (let from = 0; from < names.length; from += 2 * batchMax) {
    const [one, other] = [
      names.slice(from, from + batchMax),
      names.slice(from + batchMax, from + 2 * batchMax),
    ];
    spent.reconcile += await used(() => answersTo(url, one));
    spent.search += await used(async () => {
      for (const { query } of other) {
        const q = encodeURIComponent(query);
        await (await fetch(`${url}/api/search?q=${q}`)).arrayBuffer();
      }
    });
  }
  return spent;
}

const rowsOf = async (store: Store): Promise<Row[]> => {
  const { rows } = await store.raw.execute(
    "SELECT slug, name, city, country_code FROM nonprofits WHERE status <> 'withdrawn' ORDER BY id",
  );
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  return rows.map((row) => ({
    id: String(row["slug"]),
    name: String(row["name"]),
    city: text(row["city"]),
    country: text(row["country_code"]),
  }));
};

/** How often a match would be right from each score on, and how many of those that are there it would find. */
function thresholds(answers: readonly Answered[]): Figure[] {
  const known = answers.filter(({ asked }) => asked.slug !== null).length;
  return [70, 75, 80, 85, 90].flatMap((from) =>
    [0, 4].flatMap((least) => {
      const taken = answers.filter(
        ({ best, ahead }) => (best?.score ?? 0) >= from && ahead >= least,
      );
      const right = taken.filter((one) => one.right).length;
      const what = `from ${from}, ${least} ahead`;
      return [
        figure(`${what}: right`, (100 * right) / taken.length, "%"),
        figure(`${what}: found`, (100 * right) / known, "%"),
      ];
    }),
  );
}

const isWrong = ({ asked, right, best }: Answered): boolean =>
  !right && (asked.slug !== null || best?.match === true);

await runBench({
  name: "reconcile",
  description:
    "Damaged names of real registers (ALMONER_REGISTER_DATA), sent to /reconcile in batches of 50: how many are found, how often a match is right, and what that costs beside a search",
  options: {
    names: [20_000, "Damaged names; a fifth as many that the directory does not have follow"],
    port: [18_090, "Port of the service under test"],
    misses: [0, "So many wrong answers are printed"],
  },
  run: async ({ names, port, folder, misses }) => {
    await importRegisters(folder, ["hi", "vt", "ri", "ak", "nv", "nm"]);
    await using service = await serve({ folder, profiles: 0, port });
    const all = await rowsOf(service.store);
    const cases = damagedNames(all, names);
    const absent = absentNames(all, names / 5);
    const present = await answersTo(service.url, cases);
    const others = await answersTo(service.url, absent);
    const both = [...present.answers, ...others.answers];
    for (const { asked, best } of both.filter(isWrong).slice(0, misses))
      console.error([asked.slug, asked.query, best?.name, best?.score].join("\t"));
    const taken = both.filter(({ best }) => best?.match === true);
    const right = taken.filter((one) => one.right).length;
    const first = present.answers.filter((one) => one.right).length;
    const spent = await costs(service, damagedNames(all, names + 1_000).slice(names));
    const figures = [
      figure("the right one comes first", (100 * first) / names, "%", { least: 95 }),
      figure("match: true is right, absent ones among them", (100 * right) / taken.length, "%"),
      figure("of those that are there, found with match: true", (100 * right) / names, "%"),
      figure("batch of 50, p50", quantile(present.timesMs, 0.5), "ms", { most: 500 }),
      figure("batch of 50, p99", quantile(present.timesMs, 0.99), "ms"),
      figure("rate beside that of search, by processor time", spent.search / spent.reconcile, "×", {
        least: 0.8,
      }),
      figure("processor time of a batch of 50", spent.reconcile / 10, "ms", { most: 500 }),
      ...thresholds(both),
    ];
    return { title: `Reconcile ${names} damaged names, ${all.length} profiles`, figures };
  },
});
