import { describe, expect, test } from "bun:test";
import { openStore, type Store } from "#content/store/open.ts";
import { sampleStates, seedDirectory, unfinishedSample } from "#scripts/seed/seed-directory.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);

const open = (name: string) => openStore({ url: `file:${folder(name)}.db`, synchronous: "OFF" });

/** All that seeding writes, as one number per table: rows in the order of their keys. */
async function contentOf(store: Store): Promise<Record<string, unknown>> {
  const tables = [
    "nonprofits",
    "nonprofit_causes",
    "programs",
    "impact_metrics",
    "registrations",
    "provenance",
    "listings",
    "changes",
    "curated_picks",
    "submissions",
    "donations",
    "corrections",
    "onboarding_submissions",
    "activity_counts",
    "audit_log",
    "directory_facts",
  ];
  const found: Record<string, unknown> = {};
  for (const table of tables) {
    const { rows } = await store.raw.execute(`SELECT * FROM ${table} ORDER BY 1, 2, 3`);
    found[table] = [rows.length, Bun.hash(JSON.stringify(rows)).toString(36)];
  }
  return found;
}

describe("the sample directory", () => {
  test("is the same each time, also when its making was cut off", async () => {
    const profiles = 40;
    const sample = { profiles, seedNumber: 1, atOnce: 30 };
    const whole = await open("whole");
    const progress: number[] = [];
    const onProgress = (done: number) => progress.push(done);
    const outcome = await seedDirectory(whole, { ...sample, onProgress });
    expect(outcome).toEqual({ added: profiles, done: profiles });
    expect(progress).toEqual([0, 30, profiles]);
    const fewer = { profiles: 5, seedNumber: 1 };
    expect(await seedDirectory(whole, fewer)).toEqual({ added: 0, done: profiles });
    const cut = await open("cut");
    const stop = new AbortController();
    const stopSoon = (done: number) => done > 0 && stop.abort();
    await seedDirectory(cut, { ...sample, stop: stop.signal, onProgress: stopSoon });
    const state = { seed_number: 1, profiles, done: 30, as_of: "2026-09-01" };
    expect(await unfinishedSample(cut)).toEqual(state);
    await seedDirectory(cut, sample);
    expect(await unfinishedSample(cut)).toBeNull();
    expect(await contentOf(cut)).toEqual(await contentOf(whole));
    cut.close();
    whole.close();
  });

  test("differs with the seed number, and two samples stand side by side", async () => {
    const store = await open("two");
    await seedDirectory(store, { profiles: 20, seedNumber: 1 });
    await seedDirectory(store, { profiles: 20, seedNumber: 2 });
    expect(await sampleStates(store)).toHaveLength(2);
    const { rows } = await store.raw.execute(
      "SELECT count(*) AS stored, count(DISTINCT slug) AS slugs FROM nonprofits",
    );
    expect(rows[0]).toMatchObject({ stored: 40, slugs: 40 });
    store.close();
  });

  test("gives an organisation whose name is taken a slug of its own", async () => {
    const store = await open("taken");
    await seedDirectory(store, { profiles: 3, seedNumber: 1 });
    await store.write(async (tx) => {
      // The same sample once more, as if its names belonged to others.
      await tx.raw.execute("DELETE FROM directory_facts");
      await tx.raw.execute("UPDATE registrations SET org_id = NULL");
    });
    await seedDirectory(store, { profiles: 3, seedNumber: 1 });
    const { rows } = await store.raw.execute(
      "SELECT count(DISTINCT name) AS names, count(DISTINCT slug) AS slugs FROM nonprofits",
    );
    expect(rows[0]).toMatchObject({ names: 3, slugs: 6 });
    store.close();
  });
});
