import type { Manifest, NewFile } from "./manifest.ts";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";

/** A reader that has looked up a file opens it long before this. */
const spareForMs = 60_000;

/** Notes what paths hold until these files without a history replace them, to be removed a little later. */
export function setAside({ db }: Manifest, files: readonly NewFile[], now: Date): void {
  db.query(
    `INSERT OR REPLACE INTO spare_blobs (digest, spare_since)
     SELECT files.digest, ?1
     FROM json_each(?2) AS next JOIN files ON files.path = next.value ->> 0
     WHERE files.digest <> next.value ->> 1`,
  ).run(now.getTime(), JSON.stringify(files.map(({ path, digest }) => [path, digest])));
}

/** Removes what was set aside and is named by nothing, once no reader can be about to open it. */
export function removeSpareBlobs({
  manifest,
  blobs,
  clock,
}: Pick<PublisherParts, "manifest" | "blobs" | "clock">): void {
  const named = `SELECT digest FROM files WHERE files.digest = spare_blobs.digest
    UNION ALL SELECT digest FROM history WHERE history.digest = spare_blobs.digest`;
  const spare = manifest.db
    .query<{ digest: string; named: number }, [number]>(
      `SELECT digest, EXISTS (${named}) AS named FROM spare_blobs WHERE spare_since < ?`,
    )
    .all(clock().getTime() - spareForMs);
  if (spare.length === 0) return;
  for (const { digest, named: kept } of spare) if (kept === 0) blobs.remove(digest);
  manifest.db
    .query("DELETE FROM spare_blobs WHERE digest IN (SELECT value FROM json_each(?))")
    .run(JSON.stringify(spare.map(({ digest }) => digest)));
}
