import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { changeOf, disturb } from "./support/edits.ts";
import {
  cpuMs,
  type Figure,
  figure,
  median,
  peakMemoryMb,
  quantile,
  runBench,
  timed,
  writtenMb,
} from "./support/harness.ts";
import { newClient, post, send } from "./support/load.ts";
import { mixedQueries } from "./support/queries.ts";
import { writeRegisterRows } from "./support/register-rows.ts";
import { runImport } from "./support/registers.ts";
import { column, serve, type Served, serveWhole } from "./support/serve.ts";

/** What one step took at one size, by name with its unit: "import: time, s". */
type Measured = Record<string, number>;
type Size = { profiles: number; folder: string; rows: string; port: number; changes: number };

const publishScript = join(import.meta.dirname, "../../scripts/publish.ts");

/** In the order in which they need each other; a size that was measured up to here can be gone on with by `--keep`. */
const steps: Readonly<Record<string, (size: Size) => Promise<Measured>>> = {
  import: importRows,
  again: importRows,
  beside,
  build,
  change,
  search,
};

type Run = Awaited<ReturnType<typeof timed>>;

const costOf = ({ seconds, cpuSeconds, peakMb, writtenMb: written }: Run): Measured => ({
  "time, s": seconds,
  "processor, s": cpuSeconds,
  "memory, MB": peakMb,
  "written, MB": written,
});

async function importRows({ folder, rows, profiles }: Size): Promise<Measured> {
  const run = await runImport(["irs-bmf", "--json", "--as-of", "2026-05-12", rows], folder);
  const { added, changed, unchanged } = Report.parse(JSON.parse(run.out));
  const all = added + changed + unchanged;
  if (all !== profiles) throw new Error(`${all} profiles came of ${profiles}`);
  const kept = statSync(join(folder, "store.db")).size / 2 ** 20;
  return { ...costOf(run), "kept, MB": kept };
}

const Report = z.object({ added: z.int(), changed: z.int(), unchanged: z.int() });

/** Submissions that arrive one after another: with nothing beside them, while the same rows are imported again, and other ones. */
async function beside(size: Size): Promise<Measured> {
  const { folder, port, rows } = size;
  const env = { ALMONER_TRUSTED_HOPS: "1" };
  await using served = await serve({ folder, profiles: 0, port, env });
  const slugs = await column(served.store, "SELECT slug FROM nonprofits ORDER BY id LIMIT 10000");
  const measured: Measured = {};
  const during = async (what: string, work: () => Promise<unknown>) => {
    const timesMs = await submissionsDuring(served, { slugs, what }, work());
    measured[`${what}, p50, ms`] = median(timesMs);
    measured[`${what}, p99, ms`] = quantile(timesMs, 0.99);
    measured[`${what}, most, ms`] = Math.max(...timesMs);
    measured[`${what}, submissions`] = timesMs.length;
  };
  await during("warm", () => Bun.sleep(aloneMs));
  await during("alone", () => Bun.sleep(aloneMs));
  await during("unchanged", () => importRows(size));
  const lines = readFileSync(rows, "utf8").split("\n");
  const renamed = (line: string, at: number) =>
    at % renamedEvery === 1 ? line.replace(",", ",NEW ") : line;
  writeFileSync(rows, lines.map(renamed).join("\n"));
  await during("changed", () => importRows(size));
  return measured;
}

const aloneMs = 5_000;
/** Of so many rows one has another name: what costs most of all that a row may change. */
const renamedEvery = 30;
const submittedEveryMs = 10;

/** How long each submission took, in ms, that one client sent one after another until the work ended. */
async function submissionsDuring(
  { url }: Served,
  { slugs, what }: { slugs: readonly string[]; what: string },
  work: Promise<unknown>,
): Promise<number[]> {
  const timesMs: number[] = [];
  let isGoing = true;
  const ended = work.finally(() => (isGoing = false));
  for (let at = 0; isGoing; at++) {
    const body = {
      field: "contact_email",
      value: `${what}${at}@bench.example`,
      agent_id: `${what}-${at}`,
    };
    const {
      path,
      method,
      headers,
      body: text,
    } = post(`/api/enrich/${slugs[at % slugs.length]}`, body);
    const startedMs = performance.now();
    const init = {
      method: method ?? "POST",
      headers: { ...headers, ...newClient() },
      body: text ?? "",
    };
    const answer = await fetch(`${url}${path}`, init);
    if (!(await answer.text()).includes('"status":"pending"')) throw new Error(`${answer.status}`);
    timesMs.push(performance.now() - startedMs);
    await Bun.sleep(submittedEveryMs);
  }
  await ended;
  return timesMs;
}

/** Addresses in pages have the port: another one would have the service build everything again. */
const settingsOf = ({ port }: Size) => ({
  ALMONER_PORT: String(port),
  ALMONER_SEARCH_INDEX: "off",
  ALMONER_TRUSTED_HOPS: "1",
});

async function build(size: Size): Promise<Measured> {
  const { folder } = size;
  const env = { ...settingsOf(size), ALMONER_DATA_DIR: folder, ALMONER_DATABASE_URL: "" };
  const run = await timed([process.execPath, publishScript, "--full", "--json"], env);
  const bundle = join(folder, "bundle");
  const kept = await timed(["du", "-sm", "--apparent-size", bundle]);
  const files = await timed(["du", "-s", "--inodes", bundle]);
  return { ...costOf(run), "kept, MB": firstNumber(kept.out), files: firstNumber(files.out) };
}

const firstNumber = (text: string): number => Number.parseInt(text, 10);

/** From a write that goes live to a reader who has it, while others read and write; then, alone, until all lists have it, too. */
async function change(size: Size): Promise<Measured> {
  const { folder, profiles, port, changes } = size;
  await using served = await serveWhole({ folder, profiles: 0, port, env: settingsOf(size) });
  const { manifest } = served;
  // What waits at the start of every service is no change.
  const settle = async (): Promise<void> => {
    const { listed_release, current_release } = manifest.state();
    if (listed_release >= current_release) return;
    await Bun.sleep(20);
    return settle();
  };
  await settle();
  const bench = { ...served, profiles };
  const others = disturb(bench);
  const waitsMs: number[] = [];
  for (let at = 0; at < changes; at++) {
    waitsMs.push(await changeOf(bench));
    await Bun.sleep(15);
  }
  await others.stop();
  await served.published();
  await settle();
  const { pid } = manifest.state();
  const before = { cpu: await cpuMs(pid), written: await writtenMb(pid) };
  const listsMs: number[] = [];
  for (let at = 0; at < listed; at++) {
    const startedMs = performance.now();
    await changeOf(bench);
    await served.published();
    listsMs.push(performance.now() - startedMs);
    await settle();
  }
  return {
    "to read, p50, ms": median(waitsMs),
    "to read, p99, ms": quantile(waitsMs, 0.99),
    "lists, p50, ms": median(listsMs),
    "lists, most, ms": Math.max(...listsMs),
    "publisher, processor of one, ms": ((await cpuMs(pid)) - before.cpu) / listed,
    "publisher, written by one, MB": ((await writtenMb(pid)) - before.written) / listed,
    "publisher, memory, MB": await peakMemoryMb(pid),
    "service, memory, MB": await peakMemoryMb(served.pid),
  };
}

/** Changes that are waited for until they are everywhere. */
const listed = 5;
const queries = 1_000;
const atOnce = 8;

async function search({ folder, port }: Size): Promise<Measured> {
  await using served = await serve({ folder, profiles: 0, port });
  const all = await mixedQueries(served.store, 2 * queries);
  await send(served.url, all.slice(queries), { atOnce }); // The engine compiles what runs often.
  const before = await cpuMs(served.pid);
  const { timesMs, perSecond } = await send(served.url, all.slice(0, queries), { atOnce });
  return {
    "new queries, a second": perSecond,
    "new queries, p50, ms": median(timesMs),
    "new queries, p99, ms": quantile(timesMs, 0.99),
    "new queries, processor of one, ms": ((await cpuMs(served.pid)) - before) / timesMs.length,
    "service, memory, MB": await peakMemoryMb(served.pid),
  };
}

/** How a figure grows between two sizes: 0 not at all, 1 as the directory does. */
const exponentOf = (
  [size, value]: readonly [number, number],
  [more, then]: readonly [number, number],
) => Math.log(then / value) / Math.log(more / size);

function figuresOf(measured: ReadonlyMap<string, ReadonlyMap<number, number>>): Figure[] {
  return [...measured].flatMap(([what, bySize]) => {
    const sizes = [...bySize];
    return sizes.flatMap((size, nth) => {
      const [profiles, value] = size;
      const before = sizes[nth - 1];
      return [
        figure(`${profiles}: ${what}`, value, ""),
        ...(before === undefined ? [] : [figure("  exponent", exponentOf(before, size), "")]),
      ];
    });
  });
}

await runBench({
  name: "scale",
  description:
    "Imports multiplied rows of the IRS master file (those of ALMONER_REGISTER_DATA, else made-up ones), submits beside imports, builds, changes and searches at several sizes; prints what each step took, and by which power of the size it grows",
  options: {
    profiles: ["2000,4000", "Sizes, rising"],
    step: [Object.keys(steps).join(","), "Which steps; each needs those before it"],
    changes: [100, "Changes that are read back one by one"],
    keep: ["", "A folder in which directories are left, and found by a later run of other steps"],
    port: [18_080, "Port of the service under test"],
  },
  run: async ({ profiles: sizes, step, changes, keep, port, folder }) => {
    const measured = new Map<string, Map<number, number>>();
    const register = process.env["ALMONER_REGISTER_DATA"];
    const source = register ? join(register, "irs_bmf") : null;
    for (const profiles of sizes.split(",").map(Number)) {
      const own = join(keep || folder, String(profiles));
      mkdirSync(own, { recursive: true });
      const size = { profiles, port, changes, folder: own, rows: join(folder, "rows.csv") };
      if (/import|again|beside/.test(step))
        writeRegisterRows(size.rows, { profiles, folder: source });
      for (const name of step.split(",")) {
        const found = await steps[name]?.(size);
        for (const [what, value] of Object.entries(found ?? {})) {
          measured.getOrInsertComputed(`${name}: ${what}`, () => new Map()).set(profiles, value);
        }
        console.error(profiles, name, found);
      }
      if (keep === "") rmSync(own, { recursive: true });
    }
    return { title: `At ${sizes} profiles`, figures: figuresOf(measured) };
  },
});
