import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { load } from "cheerio";
import { openStore } from "#content/store/open.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { isFull } from "#test/support/measured.ts";
import { runScript } from "#test/support/processes.ts";
import { publisherFolders, putCompiledSite } from "#test/support/publisher.ts";

const registers = process.env["ALMONER_REGISTER_DATA"] ?? "";
if (registers === "") {
  process.stderr.write("skipped: ALMONER_REGISTER_DATA names no folder of registers\n");
}
/** Nevada, Hawaii and all of the UK's sample with ALMONER_FULL_TESTS=1, else the first lines of Hawaii and of the sample. */
const states = isFull ? ["nv", "hi"] : ["hi"];
const lines = isFull ? Number.POSITIVE_INFINITY : 80;
const expected = isFull ? { american: 18_123, british: 4_104 } : { american: 52, british: 40 };

describe.skipIf(registers === "")("registers in, a published directory out", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-registers-"));
  const env = {
    ALMONER_DATA_DIR: dataDir,
    ALMONER_LOG_LEVEL: "error",
    ...(!isFull && { ALMONER_SEARCH_INDEX: "off", ALMONER_PICTURES: "off" }),
  };
  beforeAll(() => putCompiledSite(dataDir));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  /** Runs a command as an operator does; answers what it says as JSON. */
  async function run(script: string, ...args: string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await runScript(script, [...args, "--json"], env);
    if (code !== 0) throw new Error(`${script} failed: ${err}`);
    return JSON.parse(out) as Record<string, unknown>;
  }
  /** The beginning of a register's file, or in an ordinary run its header and these organisations. */
  function register(path: string, eins: ReadonlySet<string> | null = null, most = lines): string {
    const file = join(dataDir, basename(path, ".gz"));
    const [header = "", ...rows] = gunzipSync(readFileSync(join(registers, path)))
      .toString()
      .split("\n");
    const some = isFull || eins === null ? rows : rows.filter((row) => eins.has(row.slice(0, 9)));
    writeFileSync(file, [header, ...some.slice(0, most)].join("\n"));
    return file;
  }

  test("American states, forms 990 and the UK sample are imported", async () => {
    const files = states.map((state) => register(`irs_bmf/eo_${state}.csv.gz`));
    expect(await run("import", "irs-bmf", ...files)).toMatchObject({
      added: expected.american,
    });
    const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
    const eins = new Set(text.split("\n").map((row) => row.slice(0, 9)));
    const prose = await run("import", "irs-990", register("prose/missions_irs990.csv.gz", eins));
    expect(prose["changed"]).toBeGreaterThan(0);
    // Fewer than a hundred nonprofits in all are rendered in this process.
    const british = await run(
      "import",
      "ukcat",
      register("uk_ukcat/sample.csv.gz", null, lines / 2),
    );
    expect(british).toMatchObject({ added: expected.british });
  });

  test("the bundle is built and served, and a real mission is read back as page and as JSON", async () => {
    const built = await run("publish", "--full");
    expect(built["failed"]).toEqual([]);
    const reader = openBundleReader(publisherFolders(dataDir).bundle);
    const bundle = createBundleServer(reader);
    const read = async (path: string) =>
      bundle.answer(new Request(`http://localhost${path}`))?.text() ?? "";
    const { slug, mission, ein } = await oneWithMission();
    const json = JSON.parse(await read(`/api/nonprofits/${slug}`));
    expect(json).toMatchObject({
      mission,
      identifiers: [ein],
      provenance: { mission: { source: "register:irs-990" } },
    });
    const page = load(await read(`/nonprofits/${slug}`));
    expect(page("main").text().replaceAll(/\s+/g, " ")).toContain(mission.replaceAll(/\s+/g, " "));
    expect(page('link[rel="canonical"]').attr("href")).toEndWith(`/nonprofits/${slug}`);
    const index = load(await read("/sitemap.xml"), { xml: true });
    const parts = index("loc")
      .get()
      .map((loc) => new URL(index(loc).text()).pathname);
    const sitemaps = await Promise.all(parts.map(read));
    expect(sitemaps.join("").match(/<loc>/g)?.length).toBeGreaterThan(expected.american);
    reader.close();
  });

  async function oneWithMission() {
    const store = await openStore({ url: `file:${join(dataDir, "store.db")}`, migrated: true });
    const { rows } = await store.raw.execute(
      `SELECT slug, mission, org_id FROM nonprofits JOIN registrations ON nonprofit_id = id
       WHERE mission IS NOT NULL AND register = 'irs-bmf' ORDER BY length(mission) DESC LIMIT 1`,
    );
    store.close();
    const [row] = rows;
    return {
      slug: String(row?.["slug"]),
      mission: String(row?.["mission"]),
      ein: String(row?.["org_id"]),
    };
  }
});
