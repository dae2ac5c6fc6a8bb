import { expect, test } from "bun:test";
import { everyPath } from "#content/runtime/files.ts";
import { nameAt, openPlace, writeManifest } from "#scripts/backup/place.ts";
import { clientsInstalled } from "#test/support/clients.ts";
import { anS3Store, s3AccessTo } from "#test/support/s3.ts";
import { aFolder } from "#test/support/at-file-top.ts";

const dayMs = 86_400_000;
const killedAt = new Date("2026-11-20T01:00:00Z");
const completeAt = new Date("2026-11-20T02:00:00Z");

/** Leaves a backup that was killed after its second part, beside one that is complete, and takes the next two days later. */
async function leftAt(to: string, endpoint: string, keys: () => Promise<string[]>) {
  const place = openPlace(to, s3AccessTo(endpoint));
  if (typeof place === "string") throw new Error(place);
  const killed = nameAt(killedAt);
  for (const part of ["store.db.zst.1", "store.db.zst.2"]) {
    await place.write(`${killed}/${part}`, new Uint8Array(10));
  }
  const name = nameAt(completeAt);
  await place.write(`${name}/store.db.zst.1`, new Uint8Array(10));
  const part = { name: "store.db.zst.1", bytes: 10, sha256: "" };
  await writeManifest(place, {
    version: 1,
    name,
    software: "0.0.0",
    keys: null,
    store: { sha256: "", bytes: 10, parts: [part] },
    facts: { rows: {}, newest_change: 0, feed_file: 0 },
  });
  await place.removeUnfinished(completeAt);
  const soon = (await keys()).filter((key) => key.includes(killed)).length;
  await place.removeUnfinished(new Date(killedAt.getTime() + 2 * dayMs));
  const after = await keys();
  return {
    soon,
    later: after.filter((key) => key.includes(killed)).length,
    complete: after.filter((key) => key.includes(name)).length,
    names: await place.names(),
  };
}

const expected = { soon: 2, later: 0, complete: 2, names: [nameAt(completeAt)] };

test("what a killed backup left in a folder goes a day later, and nothing else", async () => {
  using folder = aFolder();
  expect(await leftAt(folder(), "", async () => [...everyPath(folder())])).toEqual(expected);
});

test.skipIf(!clientsInstalled)("in a bucket, too, which is not listed", async () => {
  const s3 = await anS3Store("backups");
  expect(await leftAt("s3://backups/almoner", s3.endpoint, () => s3.keys())).toEqual(expected);
  await s3.close();
});

test("another folder beside backups is somebody else's", async () => {
  using folder = aFolder();
  const mine = ["2019-05-05/mine.txt", "daily-1/manifest.json", "notes/mine.txt"];
  for (const path of mine) await Bun.write(folder(path), "mine");
  const place = openPlace(folder(), s3AccessTo(""));
  if (typeof place === "string") throw new Error(place);
  await place.removeUnfinished(new Date());
  expect(await place.names()).toEqual([]);
  expect([...everyPath(folder())].sort()).toEqual(mine);
});
