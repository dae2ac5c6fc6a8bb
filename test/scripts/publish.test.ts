import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readConfig } from "#api/config.ts";
import { loadSecrets } from "#api/secrets.ts";
import { feedPaths, FeedState } from "#content/contract/feed.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import type { Store } from "#content/store/open.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openManifest } from "#site/bundle/manifest.ts";
import { flipBit } from "#test/support/bundle.ts";
import { aDataFolder, type DataFolder } from "#test/support/data-folder.ts";
import { aNonprofit } from "#test/support/records.ts";
import { runScript } from "#test/support/processes.ts";
import { serveHere } from "#test/support/serve-here.ts";

let folder: DataFolder;
let dataDir: string;
let store: Store;
let purged: string[] = [];
const cache = serveHere(
  (request) => (purged.push(request.headers.get("xkey-purge") ?? ""), new Response("")),
);

beforeAll(async () => {
  const trusts = ["trust-a", "trust-b"].map((slug) => aNonprofit({ slug }));
  folder = await aDataFolder(trusts, { compiled: true });
  ({ dataDir, store } = folder);
  // What the service makes at its first start: tokens and keys.
  loadSecrets(readConfig({ ALMONER_DATA_DIR: dataDir }));
});
afterAll(async () => {
  await cache.stop(true);
  folder.close();
});

async function edit(tagline: string): Promise<void> {
  const before = await recordBySlug(store, "trust-a");
  if (before === null) throw new Error("no trust-a");
  await store.write((tx) =>
    saveNonprofits(tx, [{ before, after: { ...before, tagline } }], {
      origin: "test",
      now: new Date(),
    }),
  );
}

const env = () => ({
  ALMONER_DATA_DIR: dataDir,
  ALMONER_PUBLIC_DIR: join(dataDir, "public"),
  ALMONER_LOG_LEVEL: "silent",
  ALMONER_SEARCH_INDEX: "off",
  ALMONER_PICTURES: "off",
  ALMONER_BACKUP_SCHEDULE: "off",
  ALMONER_PURGE_URLS: `http://127.0.0.1:${cache.port}`,
  ALMONER_PURGE_MODE: "xkey",
});

async function publish(...words: string[]) {
  const { code, out, err } = await runScript("publish", words, env());
  const json = words.includes("--json") && out !== "" ? JSON.parse(out) : null;
  return { code, out, complaint: err, json };
}

/** The newest change that the published feed has. */
const inFeed = (): number =>
  FeedState.parse(JSON.parse(readFileSync(join(dataDir, "public", feedPaths.state), "utf8")))
    .change_sequence;

const page = () => readFileSync(join(dataDir, "public/nonprofits/trust-a.html"), "utf8");

describe("publishing once", () => {
  test("publishes what waits, tells it beforehand, and purges caches", async () => {
    expect((await publish("--json")).json).toMatchObject({
      release: expect.any(Number),
      failed: [],
    });
    await edit("first line");
    const before = await publish("--status", "--json");
    expect(before).toMatchObject({
      code: 0,
      json: { resident: false, waiting: { profiles: 1, lists: 1 } },
    });
    purged = [];
    expect((await publish()).out).toContain("is current");
    expect(page()).toContain("first line");
    expect(purged.join(" ")).toContain("profile:trust-a");
    const after = await publish("--status");
    expect(after.out).toMatch(/Waiting +nothing\n/);
    expect(after.out).toMatch(/Failed +nothing\n/);
  });

  test("shows no byte of the desk and no secret", async () => {
    const shown = join(dataDir, "public");
    const secrets = readdirSync(join(dataDir, "secrets")).map((name) =>
      readFileSync(join(dataDir, "secrets", name), "utf8").trim(),
    );
    expect(secrets.length).toBeGreaterThan(4);
    // Both faces are drawn in the same hand: what the site's own styles say too is no part of the desk.
    const ofSite = readdirSync("site/styles")
      .map((name) => readFileSync(join("site/styles", name), "utf8"))
      .join("\n");
    const ofDesk = readdirSync("api/operator/desk").map((name) =>
      readFileSync(join("api/operator/desk", name), "utf8"),
    );
    // Long runs of the desk's own source: its words, its markup, its styles.
    const lines = ofDesk.flatMap((text) =>
      text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line.length > 60 && !line.startsWith("import") && !ofSite.includes(line))
        // The directory's mark stands on both.
        .filter((line) => !/^<(?:circle|path) /.test(line)),
    );
    expect(lines.length).toBeGreaterThan(100);
    const marks = [
      ...secrets,
      "almoner-desk",
      "operator-token",
      "/desk/sign-in",
      "/desk/desk.css",
      ...lines,
    ];
    const found: string[] = [];
    let files = 0;
    for await (const path of new Glob("**/*").scan({ cwd: shown, dot: true })) {
      files += 1;
      expect(path.split("/")).not.toContain("desk");
      const bytes = readFileSync(join(shown, path));
      const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
      for (const mark of marks)
        if (text.includes(mark)) found.push(`${path}: ${mark.slice(0, 60)}`);
    }
    expect(files).toBeGreaterThan(140);
    expect(found).toEqual([]);
  });

  test("goes back to what was shown before the newest change, holds, and goes on", async () => {
    await edit("second line");
    await publish();
    purged = [];
    const back = await publish("--rollback", "--json");
    expect(back).toMatchObject({ code: 0, json: { held_at: expect.any(Number) } });
    expect(page()).toContain("first line");
    expect(purged.join(" ")).toContain("profile:trust-a");
    const held = await publish();
    expect([held.code, held.complaint]).toEqual([1, expect.stringContaining("held at release")]);
    expect(await publish("--full")).toMatchObject({ code: 1, complaint: held.complaint });
    expect(page()).toContain("first line");
    await publish("--resume");
    expect(page()).toContain("second line");
  });

  test("refuses what cannot be meant", async () => {
    const noPort = { ...env(), ALMONER_PORT: "0", ALMONER_BASE_URL: "" };
    const { code, err } = await runScript("publish", [], noPort);
    expect([code, err]).toEqual([2, expect.stringContaining("set ALMONER_BASE_URL")]);
    expect((await publish("--full", "--rollback")).code).toBe(2);
    expect((await publish("--rollback", "99999")).complaint).toContain("is not kept. Kept: ");
  });
});

type Resident = Awaited<ReturnType<typeof aResident>>;
/** A publisher in a process of its own that stays, and tells its release as to a service. */
async function aResident(purgeUrls: string) {
  const released = Promise.withResolvers<void>();
  let hasReleased = false;
  const child = Bun.spawn([process.execPath, "scripts/publish.ts", "--watch"], {
    env: {
      ...process.env,
      ...env(),
      ALMONER_LOG_LEVEL: "info",
      ALMONER_LOG_FORMAT: "plain",
      ALMONER_PURGE_URLS: purgeUrls,
    },
    stdio: ["ignore", "ignore", "pipe"],
    serialization: "json",
    ipc: (message: unknown) => {
      if (typeof message !== "object" || message === null || !("release" in message)) return;
      hasReleased = true;
      released.resolve();
    },
  });
  return {
    child,
    released: released.promise,
    hasReleased: () => hasReleased,
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
      .split(" ")
      .flatMap((child) => Number(child) || []),
  );

describe("a publisher that stays", () => {
  let resident: Resident;
  beforeAll(async () => {
    resident = await aResident(env().ALMONER_PURGE_URLS);
    // Anyone who publishes first holds the place: no command must be quicker than the one that is to stay.
    await resident.released;
  });
  afterAll(() => resident.stop());

  test("does what is asked for on the command line", async () => {
    await edit("third line");
    await publish();
    expect(page()).toContain("third line");
    const newest = await newestSequence(store);
    while (inFeed() < newest) await Bun.sleep(20);
    expect((await publish("--status", "--json")).json).toMatchObject({
      resident: true,
      waiting: { profiles: 0, lists: 0, oldest_s: null },
    });
    // At the lowest priority, two busy programs kept a change from lists and feed for half a minute.
    const priorities = childrenOf(resident.child.pid).map((pid) => getPriority(pid));
    expect(Math.min(...priorities)).toBeLessThan(10);
    const back = await publish("--rollback");
    expect(back).toMatchObject({ code: 0, out: expect.stringContaining("held at release") });
    const full = await publish("--full");
    expect([full.code, full.complaint]).toEqual([1, expect.stringContaining("held at release")]);
    expect(page()).toContain("second line");
    await publish("--resume");
    expect(page()).toContain("third line");
    const shown = join(dataDir, "public/nonprofits/trust-a.html");
    chmodSync(shown, 0o644);
    writeFileSync(shown, "defaced");
    using manifest = openManifest(join(dataDir, "bundle"), { readonly: true });
    const path = "nonprofits/trust-a.html";
    flipBit(manifest, manifest.find(path)?.digest ?? "");
    const { json } = await publish("--full", "--json");
    expect(json).toMatchObject({ differing: [], repaired: [path] });
  });

  test("has a second service's publisher wait, which starts none after another, and takes over", async () => {
    const other = await aResident("");
    let log = "";
    for await (const piece of other.child.stderr) {
      log += new TextDecoder().decode(piece);
      if (log.includes("this one waits until it ends")) break;
    }
    expect([other.child.exitCode, other.hasReleased()]).toEqual([null, false]);
    await resident.stop();
    await other.released;
    await edit("of the second");
    while (!page().includes("of the second")) await Bun.sleep(20);
    await other.stop();
    expect((await publish("--status", "--json")).json.resident).toBe(false);
  });
});
