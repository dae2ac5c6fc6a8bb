import { readFile } from "node:fs/promises";
import type { DocumentKind } from "./document.ts";
import { keyOf } from "./keys.ts";

/** Style sheets, the icon and what else pages refer to. Those under _astro/ carry a digest in their name. */
export const assets: DocumentKind = {
  kind: "assets",
  all: () => [[keyOf.assets]],
  render: async (keys, { renderer }) => {
    const files = await Promise.all(
      renderer.assets.map(async ({ path, file }) => ({ path, body: await readFile(file) })),
    );
    return keys.map((key) => ({ key, files }));
  },
};
