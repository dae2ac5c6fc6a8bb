import { join } from "node:path";
import { digestOfFiles } from "#content/runtime/digest-of-files.ts";
import { publishInSlices } from "#site/bundle/export-release.ts";
import { keyOf } from "#site/documents/keys.ts";
import { picturesFolder } from "#site/parts/page-picture.ts";
import { type WantedPicture, wantedPictures } from "#site/pictures/wanted.ts";
import type { PublisherContext } from "./context.ts";
import { publishKeys } from "./profile-job.ts";

/** Drawn and published together. */
const picturesPerRelease = 100;
const root = join(import.meta.dirname, "../..");
/** What pictures look like: another version of these has all of them drawn again. */
const inputFiles = [
  "site/pictures/picture.ts",
  "site/pictures/wanted.ts",
  "site/pictures/lettering.ts",
  "content/editorial/fonts/fraunces.woff2",
  "content/editorial/fonts/figtree.woff2",
  "content/editorial/causes.json",
  "content/editorial/countries.json",
  "content/editorial/world-map.json",
  "node_modules/@resvg/resvg-js/package.json",
];

/** Keeps the pictures that other sites show of pages: made after all else, and again only when what they show changed. */
export function openPictureJob(context: PublisherContext, { pictures }: { pictures: boolean }) {
  const { manifest, source, blobs, background } = context;
  const inputs = pictures ? digestOfFiles(root, inputFiles) : "";
  const isOff = () => {
    const { current_release, held_at } = manifest.state();
    return !pictures || current_release === 0 || held_at > 0;
  };

  async function publish(
    some: readonly WantedPicture[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const drawn = await background.drawPictures(
      some.map(({ path, shown }) => ({ path, shown })),
      signal,
    );
    if (isOff() || drawn.some(({ digest }) => !blobs.has(digest))) return;
    const asOf = Math.max(manifest.state().fast_sequence, 1);
    const release = { asOf, withoutHistory: picturesFolder, state: {} };
    await publishInSlices(context, { ...release, reason: "pictures", files: drawn });
    const named = some.flatMap(({ profile }) => (profile === null ? [] : keyOf.profile(profile)));
    if (named.length === 0) return;
    await publishKeys(context, named, { reason: "pages with new pictures", asOf, state: {} });
  }

  return {
    /** Makes what is missing, and forgets what no page names. Answers how many pictures were made. */
    run: async ({ signal }: { signal?: AbortSignal } = {}): Promise<number> => {
      if (isOff()) return 0;
      const isOld = manifest.state().picture_inputs !== inputs;
      const held = new Map(manifest.under(picturesFolder).map((file) => [file.path, file.digest]));
      const missing: WantedPicture[] = [];
      for await (const wanted of wantedPictures(source.store)) {
        const digest = held.get(wanted.path);
        held.delete(wanted.path);
        if (isOld || digest === undefined || !blobs.has(digest)) missing.push(wanted);
      }
      for (let at = 0; at < missing.length && !isOff(); at += picturesPerRelease) {
        if (signal?.aborted === true) return at;
        await publish(missing.slice(at, at + picturesPerRelease), signal);
      }
      if (isOff()) return missing.length;
      await publishInSlices(context, {
        reason: "pictures that no page names",
        files: [],
        retired: [...held.keys()],
        asOf: Math.max(manifest.state().fast_sequence, 1),
        state: { picture_inputs: inputs },
      });
      return missing.length;
    },
  };
}
