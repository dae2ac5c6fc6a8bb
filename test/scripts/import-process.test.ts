import { describe, expect, test } from "bun:test";
import { sourceFrom } from "#content/nonprofit/record.ts";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { noteFact } from "#content/store/facts.ts";
import { openStore } from "#content/store/open.ts";
import { eq, isNull, sql } from "drizzle-orm";
import { listings, nonprofits, registerRecords } from "#content/store/tables/nonprofits.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { registerFile } from "#test/support/importing.ts";
import { runProgram, runScript } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);

const project = join(import.meta.dirname, "../..");

/** Starts a command on a store in the test's folder. */
const start = (script: "import" | "export", ...args: string[]) =>
  Bun.spawn([process.execPath, join(project, `scripts/${script}.ts`), ...args], {
    env: { ...process.env, ...envOf("data") },
    stdout: "pipe",
    stderr: "pipe",
  });
const envOf = (data: string) => ({ ALMONER_DATA_DIR: folder(data), ALMONER_DATABASE_URL: "" });

const runIn = (data: string, script: string, ...words: string[]) =>
  runScript(script, words, envOf(data));
const run = (script: string, ...words: string[]) => runIn("data", script, ...words);

/** Stops it as soon as that has come about. */
async function stopped(
  child: ReturnType<typeof start>,
  isBegun: () => boolean | Promise<boolean>,
  signal: NodeJS.Signals = "SIGKILL",
) {
  while (child.exitCode === null && !(await isBegun())) await Bun.sleep(20);
  child.kill(signal);
  return ended(child);
}

async function ended(child: ReturnType<typeof start>) {
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exited,
  ]);
  return { out, err, code };
}

const text = (stream: ReadableStream) => new Response(stream).text();

const openData = (data = "data") =>
  openStore({ url: `file:${folder(data, "store.db")}`, busyWaitMs: 60_000 });

/** Many organisations in the format of the master file. */
function manyOrganisations(count: number): string {
  const [header = "", line = ""] = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
  const rows = Array.from({ length: count }, (_, at) =>
    line.replace(/^\d{9},MCALDER/, `${String(700_000_000 + at)},HOUSE ${at}`),
  );
  const file = folder("eo_many.csv");
  writeFileSync(file, [header, ...rows].join("\n"));
  return file;
}

describe("the import command", () => {
  test("takes nothing into a sample, and says how to make a directory of one's own", async () => {
    {
      using sample = await openData();
      const save = { before: null, after: aNonprofit() };
      await sample.write(async (tx) => {
        await saveNonprofits(tx, [save], { origin: "seed", now: new Date(1) });
        await noteFact(tx, { name: "sample:1", value: "{}", now: new Date(1) });
      });
    }
    const refused = await run("import", "irs-bmf", registerFile("eo_aa.csv"));
    expect(refused).toMatchObject({ code: 1, out: "" });
    const own = `ALMONER_DATA_DIR='${folder("data")}-own'`;
    expect(refused.err).toContain(`\n  ${own} npm run import -- irs-bmf `);
    expect(refused.err).toMatch(/ --as-of \d{4}-\d\d-\d\d\n/);
    expect(refused.err).toContain(`\n  ${own} npm start\n`);
    using store = await openData();
    expect(await store.db.$count(nonprofits)).toBe(1);
    const taken = await run("import", "irs-bmf", registerFile("eo_aa.csv"), "--into-sample");
    expect(taken.code).toBe(0);
  });

  test("answers with exit code 2 to an unknown format, to no file and to an option out of place, 1 to a bad file, 0 to a good one", async () => {
    const [unknown, none, misplaced, bad, check, good] = await Promise.all([
      run("import", "irs-cmf", "x"),
      run("import", "irs-bmf"),
      run("import", "all", "everything.ndjson", "--json", "--check"),
      runIn("other", "import", "irs-bmf", registerFile("acnc.csv")),
      runIn("third", "import", "irs-bmf", registerFile("eo_aa.csv"), "--check"),
      run("import", "irs-bmf", registerFile("eo_aa.csv"), "--json"),
    ]);
    expect(unknown).toMatchObject({ code: 2, out: "" });
    expect(unknown.err).toContain(
      "irs-990, irs-990-xml, irs-1023ez, ccew, oscr, ccni, ukcat, acnc, ndjson",
    );
    expect(none.code).toBe(2);
    expect(misplaced).toMatchObject({ code: 2, err: expect.stringContaining("takes no --check") });
    expect(bad).toMatchObject({ code: 1, out: "" });
    expect(bad.err).toContain("acnc.csv, line 1: wrong columns");
    expect(check.code).toBe(0);
    // An empty store would be in the way of a restore.
    for (const data of ["other", "third"]) expect(readdirSync(folder(data))).toEqual([]);
    expect(good.code).toBe(0);
    expect(JSON.parse(good.out)).toMatchObject({ format: "irs-bmf", added: 7, recorded: 2 });
  });

  test("stopped or killed in the middle it loses nothing: run again it finishes while others write, then amid other rows, too", async () => {
    const rows = 1_000;
    const file = manyOrganisations(rows);
    // What is open elsewhere is filled in steps.
    using store = await openData();
    const stored = () => store.db.$count(nonprofits);
    const stopAfter = (count: () => Promise<number>, before: number, signal?: NodeJS.Signals) =>
      stopped(start("import", "irs-bmf", file), async () => (await count()) > before, signal);
    const { code, err } = await stopAfter(stored, 0, "SIGINT");
    expect([code, err]).toEqual([130, expect.stringContaining("Run the same command again to")]);
    await stopAfter(stored, await stored());
    const before = await stored();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(rows);
    const finishing = start("import", "irs-bmf", file, "--json");
    let written = 0;
    while (finishing.exitCode === null && written < 80) {
      const save = { before: null, after: aNonprofit({ slug: `written-meanwhile-${written}` }) };
      await store.write((tx) => saveNonprofits(tx, [save], { origin: "seed", now: new Date(1) }));
      written += 1;
      await Bun.sleep(50);
    }
    const again = await ended(finishing);
    expect(JSON.parse(again.out)).toMatchObject({ added: rows - before, unchanged: before });
    expect(written).toBeGreaterThan(5);
    const slugs = await store.db.selectDistinct({ slug: nonprofits.slug }).from(nonprofits);
    expect(slugs).toHaveLength(rows + written);
    expect(await store.db.$count(listings, eq(listings.list, "all"))).toBe(rows + written);
    const leftovers = readdirSync(folder("data")).filter((name) => name.endsWith(".staging"));
    expect(leftovers).toEqual([]);

    writeFileSync(file, readFileSync(file, "utf8").replaceAll("HOUSE", "HOME"));
    const { name, row_digest } = registerRecords;
    const renamed = () =>
      store.db.$count(registerRecords, sql`${name} LIKE 'Home %' AND ${row_digest} IS NOT NULL`);
    await stopAfter(renamed, 0);
    const changed = await renamed();
    expect(changed).toBeGreaterThan(0);
    expect(changed).toBeLessThan(rows);
    expect(await store.db.$count(registerRecords, isNull(row_digest))).toBe(0);
    const finished = await run("import", "irs-bmf", file, "--json");
    expect(JSON.parse(finished.out)).toMatchObject({ changed: rows - changed, unchanged: changed });
    expect(await renamed()).toBe(rows);
  });

  test("killed while it fills an empty store alone, it leaves that empty", async () => {
    const rows = 1_000;
    const file = manyOrganisations(rows);
    const journal = folder("data/store.db-journal");
    const profiles = async () => {
      using store = await openData();
      return await store.db.$count(nonprofits);
    };
    // As soon as it writes, and a while later: amid the rows, the indexes or the commit.
    for (const laterMs of [0, 100]) {
      const isBegun = () => existsSync(journal) && Bun.sleep(laterMs).then(() => true);
      await stopped(start("import", "irs-bmf", file), isBegun);
      expect([0, rows]).toContain(await profiles());
    }
    expect((await run("import", "irs-bmf", file)).code).toBe(0);
    expect(await profiles()).toBe(rows);
  });

  test("stopped while it fills a new store, it ends soon and leaves none", async () => {
    const child = start("import", "irs-bmf", manyOrganisations(20_000));
    let err = "";
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      err += piece;
      // The last line before it writes.
      if (piece.includes("covers NV")) child.kill("SIGINT");
    }
    expect([await child.exited, err]).toEqual([
      130,
      expect.stringContaining("nothing was written"),
    ]);
    expect(readdirSync(folder("data"))).toEqual([]);
  });
});

describe("the export command", () => {
  test("writes a directory that imports into an empty store and exports as the same bytes", async () => {
    await run("import", "irs-bmf", registerFile("eo_aa.csv"));
    await run("import", "irs-990", registerFile("missions_990.csv"));
    const store = await openData();
    const full = aNonprofit({
      slug: "full-profile",
      contact_email: "someone@host.example",
      usdc_wallet: "11111111111111111111111111111111",
      status: "claimed",
      verified: 1,
      impact_metrics: [{ name: "Meals", value: "3", unit: null, period: "annual" }],
      provenance: { contact_email: sourceFrom("consensus", 5, { agents: ["A", "B"] }) },
    });
    await store.write((tx) =>
      saveNonprofits(tx, [{ before: null, after: full }], { origin: "seed", now: new Date(9) }),
    );
    store.close();
    const file = folder("directory.ndjson");
    expect((await run("export", "--out", file)).code).toBe(0);
    const open = readFileSync(file, "utf8");
    expect(open).not.toContain("someone@host.example");
    const whole = await ended(start("export", "--with-contact-emails"));
    expect(whole.out).toContain("someone@host.example");
    writeFileSync(file, whole.out);
    expect((await runIn("copy", "import", "ndjson", file)).code).toBe(0);
    const exportOfCopy = async (...words: string[]) => {
      await runIn("copy", "export", "--out", `${file}.copy`, ...words);
      return readFileSync(`${file}.copy`, "utf8");
    };
    expect(await exportOfCopy("--with-contact-emails")).toBe(whole.out);
    expect(await exportOfCopy()).toBe(open);
    const again = await runIn("copy", "import", "ndjson", file, "--json");
    expect(JSON.parse(again.out)).toMatchObject({ added: 0, changed: 0, unchanged: 8 });
  });

  test("writes into a pipe and through a link, and refuses a folder", async () => {
    (await openData()).close();
    const pipe = folder("pipe");
    const link = folder("link");
    const file = folder("file");
    Bun.spawnSync(["mkfifo", pipe]);
    symlinkSync("file", link);
    writeFileSync(file, "older");
    await using read = Bun.spawn(["cat", pipe], { stdout: "pipe" });
    expect((await run("export", "--out", pipe)).code).toBe(0);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect((await run("export", "--out", link)).code).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(await new Response(read.stdout).text()).toBe(readFileSync(file, "utf8"));
    const refused = await run("export", "--out", folder());
    expect([refused.code, refused.err]).toEqual([
      2,
      `--out: ${folder()} is a folder. Name a file.\n`,
    ]);
    expect(readdirSync(folder()).toSorted()).toEqual(["data", "file", "link", "pipe"]);
  });

  test("ends well when its reader has enough", async () => {
    (await openData()).close();
    const command = `"${process.execPath}" scripts/export.ts --all | head -c 0; exit \${PIPESTATUS[0]}`;
    const options = { cwd: project, env: envOf("data") };
    expect(await runProgram(["bash", "-c", command], options)).toMatchObject({ code: 0, err: "" });
  });

  test("leaves no half-written file when it fails", async () => {
    (await openData()).close();
    const failed = await run("export", "--out", folder("nowhere/x.ndjson"));
    expect(failed.code).toBe(1);
    expect(failed.err).toMatch(/\(ENOENT\)\.\nName what is asked for/);
    expect(readdirSync(folder()).toSorted()).toEqual(["data"]);
  });
});
