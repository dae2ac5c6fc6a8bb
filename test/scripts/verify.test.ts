import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { feedPaths } from "#content/contract/feed.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { runProgram, runScript } from "#test/support/processes.ts";
import {
  theBuiltDirectory,
  aSigningKey,
  plainFolder,
  publisherFolders,
} from "#test/support/publisher.ts";
import { serveFolder, type StaticServer } from "#test/support/static-server.ts";
import { serveHere } from "#test/support/serve-here.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const base = forEachTest(aFolder);

let server: StaticServer;
let copy: string;

const directory = await theBuiltDirectory(
  Array.from({ length: 10 }, (_, at) => ({ slug: `trust-${at}`, name: `Trust ${at}` })),
  { exported: true },
);
const exported = plainFolder(directory.dataDir);
beforeEach(() => {
  server = serveFolder(exported);
  copy = base("copy");
});
afterEach(() => {
  server.close();
});

const verify = (...words: string[]) => runScript("verify", words);

/** Fetches what the list names: by wget as the documentation says, or where there is none in the same way. */
async function fetchAll(addresses: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  if (Bun.which("wget") !== null) {
    const wget = ["wget", "-q", "-x", "-nH", "-N", "-i", "-"];
    const { code } = await runProgram(wget, { cwd: folder, input: addresses });
    expect(code).toBe(0);
    return;
  }
  for (const address of addresses.trim().split("\n")) {
    const file = join(folder, decodeURIComponent(new URL(address).pathname));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await (await fetch(address)).bytes());
  }
}

const fetchCopy = async (folder: string, url = server.url) => {
  const { code, out } = await verify(url, "--list");
  expect(code).toBe(0);
  await fetchAll(out, folder);
};

test("a copy of what the list names is byte for byte the directory, and whole", async () => {
  const reader = openBundleReader(publisherFolders(directory.dataDir).bundle);
  const bundle = createBundleServer(reader);
  const own = serveHere((request) => bundle.answer(request) ?? new Response(null, { status: 404 }));
  await fetchCopy(copy, own.url.href);
  await own.stop(true);
  reader.close();
  expect(Bun.spawnSync(["diff", "-rq", exported, copy]).stdout.toString()).toBe("");
  const { code, out } = await verify(copy);
  expect(code).toBe(0);
  expect(out).toStartWith("WHOLE: ");
  expect(out).toContain(`${directory.publisher.signer.publicKey.kid}, which only the directory`);
  const { x, kid } = directory.publisher.signer.publicKey;
  const states = { missing: [], altered: [], extra: [] };
  const verdict = { whole: true, ...states, pinned: true, signed_by: kid };
  for (const named of [x, kid]) {
    const pinned = await verify(copy, "--key", named, "--json");
    expect(JSON.parse(pinned.out)).toMatchObject(verdict);
  }
});

test("a copy beside the last one fetches what changed, though the directory moves on while its list is read", async () => {
  cpSync(exported, copy, { recursive: true, preserveTimestamps: true });
  const next = base("next");
  cpSync(copy, next, { recursive: true, preserveTimestamps: true });
  writeFileSync(join(next, "old.html"), "left the bundle");
  let moved = false;
  server.meddle = async (path) => {
    // The signature was read already: it is not of the list that comes now.
    if (path !== feedPaths.manifest || moved) return null;
    moved = true;
    await directory.edit("trust-3", { tagline: "Moved on" });
    await directory.add({ slug: "new-trust", name: "New trust" });
    await directory.drain();
    return null;
  };
  await fetchCopy(next);
  expect(moved).toBe(true);
  const { code, out } = await verify(next, "--after", copy, "--json");
  expect([code, JSON.parse(out)]).toEqual([
    1,
    expect.objectContaining({ whole: false, missing: [], altered: [], extra: ["old.html"] }),
  ]);
  expect(readFileSync(join(next, "nonprofits/trust-3.html"), "utf8")).toContain("Moved on");
  rmSync(join(next, "old.html"));
  expect((await verify(next, "--after", join(copy, feedPaths.manifest))).out).toStartWith("WHOLE");
});

test("what is missing, altered or extra is named, and a link is no file", async () => {
  cpSync(exported, copy, { recursive: true });
  rmSync(join(copy, "nonprofits/trust-9.html"));
  rmSync(join(copy, "index.html"));
  writeFileSync(join(copy, "index.html"), "<h1>Give here</h1>");
  rmSync(join(copy, "agents.md"));
  symlinkSync(join(exported, "agents.md"), join(copy, "agents.md"));
  writeFileSync(join(copy, "extra\u001b[2J.html"), "not from the directory");
  const { code, err, out } = await verify(copy);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain("NOT WHOLE: 1 missing: nonprofits/trust-9.html\n");
  expect(err).toMatch(/NOT WHOLE: 2 altered: .*index\.html/);
  expect(err).toContain("NOT WHOLE: 1 extra: extra\uFFFD[2J.html\n");
  const { out: json } = await verify(copy, "--json");
  expect(JSON.parse(json)).toMatchObject({ whole: false, missing: ["nonprofits/trust-9.html"] });
});

describe("refuses", () => {
  test("a list that was changed, or a part of it", async () => {
    cpSync(exported, copy, { recursive: true });
    const list = join(copy, feedPaths.manifest);
    const text = await Bun.file(list).text();
    rmSync(list);
    const changed = text.replace(/"files":\d+/, '"files":1');
    writeFileSync(list, changed);
    const refused = { code: 1, out: "", err: expect.stringContaining("REFUSED") };
    expect(await verify(copy)).toMatchObject(refused);
    server.meddle = (path) => (path === feedPaths.manifest ? new Response(changed) : null);
    expect(await verify(server.url, "--list")).toMatchObject(refused);
    server.meddle = (path) =>
      path.startsWith("snapshot/manifest/") ? new Response('{"shard":"00","files":[]}') : null;
    const altered = await verify(server.url, "--list");
    expect([altered.code, altered.out]).toEqual([1, ""]);
    expect(altered.err).toContain("is not what the signed list says");
  });

  test("another key than the one that is named", async () => {
    const { x, kid } = (await openSigner(aSigningKey())).publicKey;
    for (const named of [x, kid]) {
      const refused = await verify(exported, "--key", named, "--json");
      expect(refused.code).toBe(1);
      expect(JSON.parse(refused.out)).toMatchObject({ whole: false, kind: "not_signed_by" });
    }
    expect((await verify(server.url, "--list", "--key", x)).code).toBe(1);
  });

  test.each([
    [["nowhere", "--list"], "--list: give the URL"],
    [["nowhere"], "Give a folder with a copy"],
    [["https://almoner.example", "--after", "copy"], "--after is not for a receipt"],
    [["https://almoner.example", "--list", "--json"], "--json is not for the list"],
    [[tmpdir(), "--rpc", "http://127.0.0.1:1"], "--rpc is not for a copy"],
    [[import.meta.dirname], "snapshot/manifest.json.jws cannot be read"],
    [[import.meta.dirname, "--key", "short"], "cannot be read"],
  ])("%j, and says what to give", async (words, complaint) => {
    const { code, err } = await verify(...words);
    expect([code, err]).toEqual([2, expect.stringContaining(complaint)]);
  });

  test("an address without a directory", async () => {
    for (const [answer, code] of [
      [() => new Response("welcome"), 2],
      [() => new Response("", { status: 404 }), 2],
      [() => new Response("", { status: 500 }), 3],
    ] as const) {
      server.meddle = answer;
      expect((await verify(server.url, "--list")).code).toBe(code);
    }
  });
});
