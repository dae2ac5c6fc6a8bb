import { join } from "node:path";
import { digestOfFiles } from "#content/runtime/digest-of-files.ts";
import { publishInSlices } from "#site/bundle/export-release.ts";
import { noteFailures, storeFiles } from "#site/bundle/release.ts";
import { renderKeys } from "#site/documents/document.ts";
import { keyOf } from "#site/documents/keys.ts";
import { picturesFolder } from "#site/parts/page-picture.ts";
import { type WantedPicture, wantedPictures } from "#site/pictures/wanted.ts";
import type { PublisherContext } from "./context.ts";

/** Drawn and published together. */
const picturesPerRelease = 100;
const root = join(import.meta.dirname, "../..");
/** What pictures look like: another version of these has all of them drawn again. */
const inputFiles = [
  "site/pictures/picture.ts",
  "site/pictures/wanted.ts",
  "site/pictures/lettering.ts",
  "site/parts/page-picture.ts",
  "site/parts/words.ts",
  "content/nonprofit/country.ts",
  "content/nonprofit/facets.ts",
  "content/editorial/fonts/fraunces.woff2",
  "content/editorial/fonts/figtree.woff2",
  "content/editorial/causes.json",
  "content/editorial/countries.json",
  "content/editorial/world-map.json",
  "node_modules/@resvg/resvg-js/package.json",
];

/** Keeps the pictures that other sites show of pages: made after all else, and again only when what they show changed. */
export function openPictureJob(context: PublisherContext, { pictures }: { pictures: boolean }) {
  const { manifest, source, kinds, blobs, background } = context;
  const inputs = pictures ? digestOfFiles(root, inputFiles) : "";
  /** A build that is asked for, or goes on, renders pages without the pictures that are made meanwhile. */
  const mustWait = () => {
    const { current_release, held_at, request, inputs_digest } = manifest.state();
    const isBuilt = request === "" && inputs_digest === context.inputsDigest;
    return current_release === 0 || held_at > 0 || !isBuilt;
  };

  /** Pictures and the pages that name them, in one release. Answers whether they could be published. */
  async function publish(
    some: readonly WantedPicture[],
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const drawn = await background.drawPictures(
      some.map(({ path, shown }) => ({ path, shown })),
      signal,
    );
    const asOf = Math.max(manifest.state().fast_sequence, 1);
    const paths = new Set(drawn.map(({ path }) => path));
    const holds = (path: string) => paths.has(path) || (source.holds?.(path) ?? false);
    const named = some.flatMap(({ profile }) => (profile === null ? [] : keyOf.profile(profile)));
    const pages = await renderKeys(named, kinds, { ...source, holds });
    if (mustWait() || drawn.some(({ digest }) => !blobs.has(digest))) return false;
    noteFailures(context, named, pages.failed);
    const { files, removed } = storeFiles(context, pages.files);
    await publishInSlices(context, {
      reason: "pictures",
      files: [...drawn, ...files],
      removed,
      asOf,
      withoutHistory: picturesFolder,
      state: {},
    });
    return true;
  }

  /** What the bundle lacks of what pages want, and what it holds that none does. */
  async function look(): Promise<{ missing: WantedPicture[]; unnamed: string[] }> {
    const isOld = manifest.state().picture_inputs !== inputs;
    const held = new Map(manifest.under(picturesFolder).map((file) => [file.path, file.digest]));
    const missing: WantedPicture[] = [];
    for await (const wanted of wantedPictures(source.store)) {
      const digest = held.get(wanted.path);
      held.delete(wanted.path);
      if (isOld || digest === undefined || !blobs.has(digest)) missing.push(wanted);
    }
    return { missing, unnamed: [...held.keys()] };
  }

  return {
    /**
     * Makes what is missing, and forgets what no page names. Answers how many pictures were made, null when some are left
     * to do.
     */
    run: async ({ signal }: { signal?: AbortSignal } = {}): Promise<number | null> => {
      if (!pictures) return 0;
      if (mustWait()) return null;
      const { missing, unnamed } = await look();
      for (let at = 0; at < missing.length; at += picturesPerRelease) {
        if (signal?.aborted === true || mustWait()) return null;
        if (!(await publish(missing.slice(at, at + picturesPerRelease), signal))) return null;
      }
      if (mustWait()) return null;
      await publishInSlices(context, {
        reason: "pictures that no page names",
        files: [],
        retired: unnamed,
        asOf: Math.max(manifest.state().fast_sequence, 1),
        state: { picture_inputs: inputs },
      });
      return missing.length;
    },
  };
}
