import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { assetGraceMs, prune } from "#site/bundle/garbage-collection.ts";
import { rollBackTo } from "#site/publisher/requests.ts";
import { openSearchJob } from "#site/search/search-job.ts";
import { runListJob } from "#site/publisher/list-job.ts";
import { pagefindShards } from "#site/search/make-indexes.ts";
import { workApart } from "#site/publisher/background-worker.ts";
import { theBuiltDirectory, plainFolder } from "#test/support/publisher.ts";

const some = Array.from({ length: 12 }, (_, at) => ({
  slug: `trust-${at}`,
  name: `Trust ${at}`,
  causes: ["education"],
  mission: "Schools for all.",
}));

const directory = await theBuiltDirectory(some, { searchIndex: true, exported: true });

const manifest = () => directory.publisher.context.manifest;
const filesOf = (folder: string) =>
  manifest()
    .db.query<{ path: string; digest: string; doomed_at: number | null }, [string]>(
      "SELECT path, lower(hex(digest)) AS digest, doomed_at FROM files WHERE path GLOB ? || '*' ORDER BY path",
    )
    .all(folder);
const living = (folder: string) => filesOf(folder).filter(({ doomed_at }) => doomed_at === null);
/** Publishes pages and lists, but no index. */
const publishPages = async () => {
  while ((await runProfileJob(directory.publisher.context)) > 0);
  while ((await runListJob(directory.publisher.context)) !== null);
};

describe("the index for people", () => {
  test("is made in a process of its own, in one release, with all that a page loads", async () => {
    const before = manifest().state().current_release;
    const { publisher } = directory;
    const { makeIndexes } = workApart(publisher.context.workers);
    const job = openSearchJob(publisher.context, { pagefind: true, makeIndexes });
    const committed = await job.run();
    expect(committed?.release).toBe(before + 1);
    expect(JSON.parse(directory.read("pagefind/shards.json") ?? "")).toEqual({
      shards: [1, 2, 3, 4, 5, 6, 7, 8],
    });
    const names = living("pagefind/2/").map(({ path }) => path.slice("pagefind/2/".length));
    for (const name of ["pagefind.js", "pagefind-worker.js", "wasm.en.pagefind"]) {
      expect(names).toContain(name);
    }
    expect(
      JSON.parse(directory.read("pagefind/2/pagefind-entry.json") ?? "").languages.en.page_count,
    ).toBe(2);
    expect(names.filter((name) => name.includes("ui"))).toEqual([]);
    const exported = plainFolder(directory.dataDir);
    expect(existsSync(join(exported, "pagefind/2/pagefind-entry.json"))).toBe(true);
  });
  test("has only those shards made again whose nonprofits changed; old files stay for a day", async () => {
    const shard = (4 % pagefindShards) + 1;
    const untouched = living(`pagefind/${(shard % 8) + 1}/`);
    const before = living(`pagefind/${shard}/`);
    await directory.edit("trust-3", { name: "Zebra Trust" });
    await publishPages();
    const committed = await directory.publisher.searchJob.run();
    const changed = committed?.changed.map(({ path }) => path) ?? [];
    expect(changed.filter((path) => path.startsWith("pagefind/"))).not.toEqual([]);
    for (const path of changed) expect(path).toMatch(new RegExp(`^(search/|pagefind/${shard}/)`));
    expect(living(`pagefind/${(shard % 8) + 1}/`)).toEqual(untouched);
    const kept = new Set(filesOf(`pagefind/${shard}/`).map(({ path }) => path));
    for (const { path } of before) expect(kept).toContain(path);
    const { context } = directory.publisher;
    const tomorrow = new Date(Date.now() + assetGraceMs + 1_000);
    expect(filesOf("pagefind/").length).toBeGreaterThan(living("pagefind/").length);
    await directory.publisher.feedJob.run();
    prune({ ...context, clock: () => tomorrow }, 200);
    expect(filesOf("pagefind/")).toEqual(living("pagefind/"));
    for (const { digest } of living("pagefind/")) expect(context.blobs.has(digest)).toBe(true);
  });
  test("is left alone while nothing changes, after a full build and a second look too, and no file that it lost is listed", async () => {
    await directory.publisher.feedJob.run();
    await directory.publish("trust-2", { name: "Yak Trust" });
    const before = filesOf("pagefind/");
    expect(await directory.rebuilt()).toEqual([]);
    expect(await directory.publisher.searchJob.run()).toBeNull();
    expect(filesOf("pagefind/")).toEqual(before);
  });
  test("is repaired when a file of it went down with the machine", async () => {
    const { context } = directory.publisher;
    const lost = living("pagefind/5/").find(({ path }) => path.endsWith(".pf_meta"));
    context.blobs.remove(lost?.digest ?? "");
    await directory.edit("trust-0", { tagline: "Another shard" });
    await publishPages();
    await directory.publisher.searchJob.run();
    expect(context.blobs.has(lost?.digest ?? "")).toBe(true);
  });
  test("stays through a rollback; programs' indexes go back and come again", async () => {
    const { context } = directory.publisher;
    const before = manifest().state().current_release;
    await directory.publish("trust-5", { name: "Quagga Trust" });
    const people = living("pagefind/");
    const programs = directory.read("search/education.lunr.json");
    rollBackTo(context, before);
    expect(living("pagefind/")).toEqual(people);
    expect(directory.read("search/education.lunr.json")).not.toBe(programs);
    expect(await directory.publisher.searchJob.run()).toBeNull();
    manifest().setState({ held_at: 0 });
    await directory.drain();
    expect(directory.read("search/education.lunr.json")).toBe(programs);
  });
});
