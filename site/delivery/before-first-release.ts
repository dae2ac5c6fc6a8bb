import { addressOf } from "#content/contract/base/request.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { discovery } from "#site/documents/discovery.ts";
import { assetsKey, documentKinds } from "#site/documents/kinds.ts";
import { listPageKey } from "#site/documents/list-page.ts";
import { page as pagesOfOne, pageKey } from "#site/documents/pages.ts";
import { profileKey } from "#site/documents/profile.ts";
import {
  type BundleFile,
  type DocumentKey,
  renderKeys,
  type Source,
} from "#site/documents/document.ts";
import { asksService, prefersMarkdown } from "./bundle-server.ts";
import { filePathsFor, givingProfileOf, headersOf, urlPathsOf } from "./http-headers.ts";
import { markdownPathOf } from "#site/parts/markdown.ts";

/** Answers from the renderer while the first release is being written. */
export type FirstPages = (request: Request) => Promise<Response | null>;

const retryAfterSeconds = "5";

/** Renders the requested profile, list page or single page. Null for files that only a release contains. */
export function createFirstPages(source: Source): FirstPages {
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return null;
    const { path: pathname } = addressOf(request);
    const [first = ""] = filePathsFor(pathname);
    const markdown = prefersMarkdown(request.headers.get("accept")) ? markdownPathOf(first) : null;
    const path = markdown === null ? pathname : `/${markdown}`;
    const key = await keyFor(source, path);
    if (key === null || asksService(request)) return null;
    const { files, failed } = await renderKeys([key], documentKinds, source);
    if (failed.length > 0) return unavailable();
    const paths = filePathsFor(path);
    const file = files.find(({ path: at, body }) => body !== null && paths.includes(at));
    if (file === undefined) return files.length > 0 ? toGivingProfile(pathname) : null;
    return answerOf(file);
  };
}

function toGivingProfile(pathname: string): Response | null {
  const giving = givingProfileOf(pathname);
  if (giving === null) return null;
  const headers = { location: giving.location, "cache-control": "no-store" };
  return new Response(null, { status: 302, headers });
}

/** The body is there for HEAD, too: the socket counts its bytes and leaves it out. */
function answerOf({ path, body }: BundleFile): Response | null {
  if (body === null) return null;
  const { contentType, others } = headersOf(path);
  const content = typeof body === "string" ? body : new Uint8Array(body);
  return new Response(content, {
    headers: { ...others, "content-type": contentType, "cache-control": "no-store" },
  });
}

const unavailable = (): Response =>
  new Response("The directory is being built. Try again in a few seconds.\n", {
    status: 503,
    headers: { "retry-after": retryAfterSeconds, "content-type": "text/plain; charset=utf-8" },
  });

/** The documents of the pages that exist before the first release, by their shortest path. */
const pageKeys = new Map(
  Object.entries({ ...pagesOfOne.documents, ...discovery.documents })
    .filter(([key]) => key !== pageKey("not-found"))
    .flatMap(([key, { paths }]) => paths.map((path) => [urlPathsOf(path)[0], key] as const)),
)
  .set("/browse", listPageKey("all", 1))
  .set("/browse.md", listPageKey("all", 1));

async function keyFor(source: Source, pathname: string): Promise<DocumentKey | null> {
  const keyOfPage = pageKeys.get(pathname);
  if (keyOfPage !== undefined) return keyOfPage;
  if (/^\/(?:_astro|widget)\//.test(pathname)) return assetsKey;
  const [, section = "", name = "", page = "1", ...more] = pathname
    .replace(/^\/api/, "")
    .split("/");
  if (more.length > 0) return null;
  const isProfile = section === "donate" || (section === "nonprofits" && name !== "pages");
  return isProfile ? keyOfProfile(source, name) : listKey(section, name, page);
}

function listKey(section: string, name: string, page: string): DocumentKey | null {
  const [, value = "", numberText = page] = /^(.*?)(?:-(\d+))?(?:\.md)?$/.exec(name) ?? [];
  const list = listsOf.get(section)?.(value);
  const number = /^(\d{1,6})(?:\.json)?$/.exec(numberText)?.[1];
  return list === undefined || number === undefined ? null : listPageKey(list, Number(number));
}

async function keyOfProfile({ store }: Source, name: string): Promise<DocumentKey | null> {
  const record = await recordBySlug(store, name.replace(/\.(html|json|md)$/, ""));
  return record === null ? null : profileKey(record.id);
}

/** Lists by the section of the site that holds their pages. */
const listsOf = new Map<string, (name: string) => string>([
  ["nonprofits", () => "all"],
  ["causes", (name) => `cause:${name}`],
  ["countries", (name) => `country:${name.toUpperCase()}`],
]);
