import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exportInSlices } from "#site/bundle/export-release.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { commitRelease, storeFiles } from "#site/bundle/release.ts";
import { workApart } from "#site/publisher/background-worker.ts";
import type { BackgroundWork } from "#site/publisher/context.ts";
import { aDirectory, type Directory, plainFolder } from "#test/support/publisher.ts";

let directory: Directory;
let apart: BackgroundWork;

beforeAll(async () => {
  directory = await aDirectory(
    Array.from({ length: 130 }, (_, at) => ({ slug: `trust-${at}`, causes: ["education"] })),
    { exported: true },
  );
  await directory.publisher.buildAll({ processes: 1 });
  apart = workApart(directory.publisher.context.workers);
}, 240_000);
afterAll(() => {
  apart.close();
  directory.close();
});

/** Changes a profile as the profile job does; answers what is left to the second. */
async function changed(slug: string, beneficiaries_per_year: number) {
  const { context } = directory.publisher;
  const after = context.manifest.state().slow_sequence;
  await directory.edit(slug, { beneficiaries_per_year });
  while ((await runProfileJob(context)) > 0);
  return { after, upTo: context.manifest.state().fast_sequence, feedFiles: [] };
}

/** Each process writes into a segment of its own. */
const placeless = <Made extends { files: NewFile[] }>(made: Made) => ({
  ...made,
  files: made.files.map(({ path, digest, size }) => ({ path, digest, size })),
});

describe("background work in a process of its own", () => {
  test("makes what this process would make", async () => {
    const { context } = directory.publisher;
    const job = await changed("trust-7", 70_000);
    const there = await apart.makeLists(job);
    const here = await context.background.makeLists(job);
    expect(there.files.length).toBeGreaterThan(5);
    expect(placeless(there)).toEqual(placeless(here));
    await directory.drain();
    const task = { full: true, keySet: "{}" };
    expect(placeless(await apart.draftFeed(task))).toEqual(
      placeless(await context.background.draftFeed(task)),
    );
  }, 240_000);

  test("knows of moves that somebody else published", async () => {
    await changed("trust-8", 80_000);
    await directory.drain();
    const job = await changed("trust-9", 90_000);
    const here = await directory.publisher.context.background.makeLists(job);
    expect(placeless(await apart.makeLists(job))).toEqual(placeless(here));
    await directory.drain();
  }, 240_000);

  test("that is given up is refused, and the next piece starts another process", async () => {
    const job = await changed("trust-10", 100_000);
    const given = apart.makeLists(job).then(
      () => "made",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );
    apart.close();
    expect(await given).toContain("was ended");
    expect((await apart.makeLists(job)).files.length).toBeGreaterThan(5);
    await directory.drain();
  }, 240_000);
});

describe("a release of many files", () => {
  const encoder = new TextEncoder();
  const release = (word: string) => {
    const { context } = directory.publisher;
    const files = Array.from({ length: 60 }, (_, at) => ({
      path: `many/${at}.txt`,
      body: encoder.encode(`${word} ${at}`),
    }));
    const { fast_sequence } = context.manifest.state();
    return commitRelease(context.manifest, {
      files: storeFiles(context, files).files,
      reason: word,
      asOf: fast_sequence,
      state: {},
      now: new Date(),
    });
  };
  const shown = (at: number) =>
    readFileSync(join(plainFolder(directory.dataDir), `many/${at}.txt`), "utf8");

  test("is shown bit by bit, and newer releases in between are not overwritten", async () => {
    const { context } = directory.publisher;
    release("one");
    let turns = 0;
    await exportInSlices(context, async () => {
      if (++turns !== 2) return;
      // Another big release and a small one overtake it.
      release("two");
      await exportInSlices(context, async () => {});
      await directory.edit("trust-3", { tagline: "In between" });
      await runProfileJob(context);
    });
    for (const at of [0, 30, 59]) expect(shown(at)).toBe(`two ${at}`);
    const { exported_release, current_release } = context.manifest.state();
    expect(exported_release).toBe(current_release);
    expect(turns).toBeGreaterThan(3);
  });

  test("that could not be shown whole is shown with the next one", async () => {
    const { context } = directory.publisher;
    const { exported } = context;
    if (exported === null) throw new Error("it is shown as plain files");
    const full = {
      ...context,
      exported: {
        ...exported,
        put: (path: string, write: (draft: string) => void) => {
          if (path === "many/40.txt") throw new Error("no space left on device");
          exported.put(path, write);
        },
      },
    };
    release("three");
    const failed = await exportInSlices(full, async () => {}).catch((error: unknown) =>
      String(error),
    );
    expect(failed).toContain("no space");
    expect(shown(40)).toBe("two 40");
    await directory.edit("trust-3", { tagline: "Room again" });
    await runProfileJob(context);
    expect(shown(40)).toBe("three 40");
    expect(context.manifest.state().exported_release).toBe(
      context.manifest.state().current_release,
    );
  });
});
