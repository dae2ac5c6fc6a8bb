import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { load } from "cheerio";
import { openStore } from "#content/store/open.ts";
import { isFull } from "#test/support/measured.ts";
import { freePort, runScript } from "#test/support/processes.ts";
import { putCompiledSite } from "#test/support/publisher.ts";

const registers = process.env["ALMONER_REGISTER_DATA"] ?? "";
if (registers === "") {
  process.stderr.write("skipped: ALMONER_REGISTER_DATA names no folder of registers\n");
}
const full = isFull;
/** Nevada, Hawaii and all of the UK's sample with ALMONER_FULL_TESTS=1, else the first lines of Hawaii and of the sample. */
const states = full ? ["nv", "hi"] : ["hi"];
const lines = full ? Number.POSITIVE_INFINITY : 151;
const expected = full ? { american: 18_123, british: 4_104 } : { american: 113, british: 148 };
const repository = join(import.meta.dirname, "../..");
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

describe.skipIf(registers === "")("registers in, a published directory out", () => {
  let dataDir: string;
  let env: Record<string, string>;
  let service: Bun.Subprocess | null = null;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "almoner-registers-"));
    await putCompiledSite(dataDir);
    env = {
      ALMONER_DATA_DIR: dataDir,
      ALMONER_PORT: String(port),
      ALMONER_LOG_LEVEL: "error",
      ALMONER_READS_PER_MINUTE: "0",
    };
  });
  afterAll(async () => {
    service?.kill("SIGTERM");
    await service?.exited;
    rmSync(dataDir, { recursive: true, force: true });
  }, 240_000);

  /** Runs a command as an operator does; answers what it says as JSON. */
  async function run(script: string, ...args: string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await runScript(script, [...args, "--json"], env);
    if (code !== 0) throw new Error(`${script} failed: ${err}`);
    return JSON.parse(out) as Record<string, unknown>;
  }
  /** The beginning of a register's file. */
  function register(path: string): string {
    const file = join(dataDir, basename(path, ".gz"));
    const text = gunzipSync(readFileSync(join(registers, path))).toString();
    writeFileSync(file, text.split("\n").slice(0, lines).join("\n"));
    return file;
  }

  test("American states, forms 990 and the UK sample are imported", async () => {
    const files = states.map((state) => register(`irs_bmf/eo_${state}.csv.gz`));
    expect(await run("import", "irs-bmf", ...files)).toMatchObject({
      added: expected.american,
    });
    const missions = join(registers, "prose/missions_irs990.csv.gz");
    const prose = await run("import", "irs-990", missions);
    expect(prose["changed"]).toBeGreaterThan(1);
    const british = await run("import", "ukcat", register("uk_ukcat/sample.csv.gz"));
    expect(british).toMatchObject({ added: expected.british });
  }, 240_000);

  test("the bundle is built and served, and a real mission is read back as page and as JSON", async () => {
    const built = await run("publish", "--full");
    expect(built["failed"]).toEqual([]);
    service = Bun.spawn([process.execPath, join(repository, "scripts/start.ts")], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const { slug, mission, ein } = await oneWithMission();
    await untilUp();
    const json = (await (await fetch(`${url}/api/nonprofits/${slug}`)).json()) as {
      mission: string;
      identifiers: string[];
      provenance: Record<string, { source: string }>;
    };
    expect(json).toMatchObject({ mission, identifiers: [ein] });
    expect(json.provenance["mission"]?.source).toBe("register:irs-990");
    const page = load(await (await fetch(`${url}/nonprofits/${slug}`)).text());
    expect(page("main").text().replaceAll(/\s+/g, " ")).toContain(mission.replaceAll(/\s+/g, " "));
    expect(page('link[rel="canonical"]').attr("href")).toEndWith(`/nonprofits/${slug}`);
    const sitemap = await (await fetch(`${url}/sitemaps/1.xml`)).text();
    expect(sitemap.match(/<loc>/g)?.length).toBeGreaterThan(expected.american);
  }, 240_000);

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

  async function untilUp(): Promise<void> {
    const deadlineMs = performance.now() + 30_000;
    while (performance.now() < deadlineMs) {
      if (
        await fetch(`${url}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return;
      await Bun.sleep(50);
    }
    throw new Error("the service did not come up");
  }
});
