import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ExportFolder, openExport } from "#site/bundle/export-folder.ts";
import { removeDrafts } from "#site/bundle/blobs.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { exportRelease } from "#site/bundle/export-release.ts";
import { aDirectory, type Directory, plainFolder } from "#test/support/publisher.ts";

let directory: Directory;

beforeAll(async () => {
  directory = await aDirectory([{ slug: "trust-a" }, { slug: "trust-b" }], { exported: true });
  await directory.publisher.buildAll({ processes: 1 });
}, 240_000);
afterAll(() => directory.close());

const path = "api/nonprofits/trust-a.json";
const shown = () => readFileSync(join(plainFolder(directory.dataDir), path), "utf8");

/** The folder on a disk that is full. */
const fullDisk = (): ExportFolder => ({
  ...openExport(plainFolder(directory.dataDir)),
  put: () => {
    throw new Error("no space left on device");
  },
});

/** Takes the changes, commits their release and fails to show it in the folder. */
async function failsToExport(): Promise<void> {
  const { context } = directory.publisher;
  const error = await runProfileJob({ ...context, exported: fullDisk() }).catch((e: unknown) => e);
  expect(error).toMatchObject({ message: "no space left on device" });
}

describe("a release that did not get into the folder for other web servers", () => {
  test("is shown there by the next start", async () => {
    const { context } = directory.publisher;
    await directory.edit("trust-a", { tagline: "Killed before the export" });
    await failsToExport();
    expect(await Bun.file(join(plainFolder(directory.dataDir), path)).text()).not.toContain(
      "Killed",
    );
    exportRelease(context);
    expect(shown()).toContain("Killed before the export");
  });
  test("is shown there together with the next release", async () => {
    const { context } = directory.publisher;
    await directory.edit("trust-a", { tagline: "Disk full" });
    await failsToExport();
    await directory.edit("trust-b", { tagline: "Room again" });
    await runProfileJob(context);
    expect(shown()).toContain("Disk full");
    const { exported_release, current_release } = context.manifest.state();
    expect(exported_release).toBe(current_release);
  });
});

test("drafts of a killed process are removed, and nothing else", () => {
  const folder = plainFolder(directory.dataDir);
  for (const name of [".123-4.draft", ".123-4.br.draft", "123-snapshot.draft"]) {
    writeFileSync(join(folder, name), "half");
  }
  removeDrafts(folder);
  expect(existsSync(join(folder, ".123-4.draft"))).toBe(false);
  expect(existsSync(join(folder, ".123-4.br.draft"))).toBe(false);
  expect(existsSync(join(folder, "123-snapshot.draft"))).toBe(false);
  expect(existsSync(join(folder, "index.html"))).toBe(true);
});
