import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openBlobs } from "#site/bundle/blobs.ts";
import { bundleExists, openManifest } from "#site/bundle/manifest.ts";
import { addressesWhere } from "#content/language/address-pattern.ts";
import { filePathsFor } from "#site/delivery/http-headers.ts";

/**
 * Writes the published files for a host that maps nothing: a page is a folder with index.html, so that its address works
 * as it stands; links to JSON name the file, and links to what only the service does lead to the directory itself.
 * `folder` must be empty or absent. Answers the number of files; throws with a sentence for the operator.
 */
export function exportPlainSite({
  bundle,
  folder,
  baseUrl,
}: {
  bundle: string;
  folder: string;
  /** Without a trailing slash. */
  baseUrl: string;
}): number {
  if (!bundleExists(bundle)) throw new Error("Nothing was published from this data folder yet.");
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. Name an empty folder, or one that does not exist.`);
  using manifest = openManifest(bundle, { readonly: true });
  const blobs = openBlobs(manifest);
  const digests = new Map(
    manifest.db
      .query<{ path: string; digest: string }, []>(
        "SELECT path, lower(hex(digest)) AS digest FROM files",
      )
      .all()
      .filter(({ path }) => !ofService(path))
      .map(({ path, digest }) => [path, digest]),
  );
  const links = new HTMLRewriter().on(".giving", {
    element: (box) => void box.setAttribute("data-directory", baseUrl),
  });
  for (const attribute of ["href", "action"]) {
    links.on(`[${attribute}^="/"]`, {
      element: (found) => {
        const address = plainAddress(found.getAttribute(attribute) ?? "", digests, baseUrl);
        found.setAttribute(attribute, address);
      },
    });
  }
  for (const [path, digest] of digests) {
    const target = join(folder, plainPath(path));
    mkdirSync(dirname(target), { recursive: true });
    if (!path.endsWith(".html")) blobs.copyTo(digest, target);
    else writeFileSync(target, links.transform(blobs.read(digest).toString()));
  }
  return digests.size;
}

/** Pages that do nothing without the service: links lead to its own. */
const acting = addressesWhere(({ acts }) => acts === true);
const ofService = (path: string): boolean =>
  path.endsWith(".html") && acting.test(`/${path.slice(0, -".html".length)}`);

const isPage = (path: string): boolean =>
  path.endsWith(".html") && path !== "index.html" && path !== "404.html";

const plainPath = (path: string): string =>
  isPage(path) ? `${path.slice(0, -".html".length)}/index.html` : path;

/** Where a plain host has what a link of ours leads to; what it cannot have is at `baseUrl`. */
export function plainAddress(
  link: string,
  files: { has(path: string): boolean },
  baseUrl: string,
): string {
  const [, path = "", query = "", fragment = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(link) ?? [];
  const file = filePathsFor(path).find((one) => files.has(one));
  // Only the service reads the parameters of these.
  const isAsked = query !== "" && /^\/(?:api\/|browse$)/.test(path);
  if (file === undefined || isAsked) return link.startsWith("//") ? link : `${baseUrl}${link}`;
  const plain = `/${plainPath(file)}`.replace(/(?<=\/)index\.html$/, "");
  return `${plain}${query}${fragment}`;
}
