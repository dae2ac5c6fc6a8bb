import { afterAll, describe, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { packsFolder } from "#site/bundle/segments.ts";
import { workApart } from "#site/publisher/background-worker.ts";
import { publishChanges } from "#site/publisher/list-job.ts";
import { aBuiltDirectory } from "#test/support/publisher.ts";

const directory = await aBuiltDirectory(
  Array.from({ length: 103 }, (_, at) => ({ slug: `trust-${at}`, causes: ["education"] })),
);
const apart = workApart(directory.publisher.context.workers);
afterAll(() => {
  apart.close();
  directory.close();
});

/** Changes a profile as the profile job does; answers what is left to the second. */
async function changed(slug: string, fields: Partial<NonprofitRecord>) {
  const { context } = directory.publisher;
  const after = context.manifest.state().slow_sequence;
  await directory.edit(slug, fields);
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
    const job = await changed("trust-7", { beneficiaries_per_year: 70_000 });
    const there = await apart.makeLists(job);
    const here = await context.background.makeLists(job);
    expect(there.files.length).toBeGreaterThan(5);
    expect(placeless(there)).toEqual(placeless(here));
    await publishChanges(context);
    const task = { full: true, keySet: "{}" };
    expect(placeless(await apart.draftFeed(task))).toEqual(
      placeless(await context.background.draftFeed(task)),
    );
  });

  test("counts what somebody else published", async () => {
    const { context } = directory.publisher;
    await changed("trust-8", { country_code: "NO" });
    await publishChanges(context);
    const job = await changed("trust-9", { beneficiaries_per_year: 90_000 });
    const here = await context.background.makeLists(job);
    expect(placeless(await apart.makeLists(job))).toEqual(placeless(here));
  });

  test("fails with the code of the system, by which a full disk is known", async () => {
    const packs = packsFolder(directory.publisher.context.manifest.folder);
    const job = await changed("trust-11", { beneficiaries_per_year: 110_000 });
    renameSync(packs, `${packs}-away`);
    writeFileSync(packs, "");
    const failure = await apart.makeLists(job).catch((error: unknown) => error);
    rmSync(packs);
    renameSync(`${packs}-away`, packs);
    expect(failure).toMatchObject({ code: "ENOTDIR" });
  });

  test("that is given up is refused, and the next piece starts another process", async () => {
    const job = await changed("trust-10", { beneficiaries_per_year: 100_000 });
    const given = apart.makeLists(job).then(
      () => "made",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );
    apart.close();
    expect(await given).toContain("was ended");
    expect((await apart.makeLists(job)).files.length).toBeGreaterThan(5);
  });
});
