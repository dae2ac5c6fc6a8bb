import type { PublisherParts } from "#site/publisher/publisher-parts.ts";

const filesPerSlice = 50;

/**
 * Looks at every file in the folder for other web servers, and shows anew what somebody changed or removed there. What
 * is not ours stays. Lets others work in between; answers the paths that were wrong.
 */
export async function checkExport({
  manifest,
  blobs,
  exported,
}: Pick<PublisherParts, "manifest" | "blobs" | "exported">): Promise<string[]> {
  const next = manifest.db.query<{ path: string; digest: string }, [string, number]>(
    "SELECT path, digest FROM files WHERE path > ? ORDER BY path LIMIT ?",
  );
  const wrong: string[] = [];
  for (let after = ""; ;) {
    const files = next.all(after, filesPerSlice);
    for (const { path, digest } of files) {
      const blob = blobs.pathOf(digest);
      if (exported.shows(path, blob)) continue;
      exported.put(path, blob);
      wrong.push(path);
    }
    after = files.at(-1)?.path ?? "";
    if (files.length < filesPerSlice) return wrong;
    await Bun.sleep(0);
  }
}
