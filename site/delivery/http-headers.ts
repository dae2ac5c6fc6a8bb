import descriptionLinks from "#content/editorial/description-links.json";
import fileHeaders from "#content/editorial/file-headers.json";
import mediaTypes from "#content/editorial/media-types.json";
import type { CacheClass } from "#content/contract/addresses.ts";
import { addressForms, patternOf } from "#content/language/address-pattern.ts";
import { filterNames, staticPagesMax } from "#content/contract/browse.ts";
import { translationCodes } from "#content/language/languages.ts";

const typesByExtension: Readonly<Record<string, string>> = mediaTypes;

/** Media types of files whose name does not tell it. Source: RFC 9727; x402scan. */
const typesByPath: Readonly<Record<string, string>> = fileHeaders.types_by_path;

/**
 * `week`: Pagefind names its files by a short digest of their content. `asks`: a cache must revalidate each time, because a
 * snapshot and its manifest must not come from two releases.
 */
export const cacheControls: Readonly<Record<CacheClass, string>> = fileHeaders.cache_controls;

/** The first rule that matches applies. */
const cacheRules = addressForms.flatMap((form) =>
  form.cache === undefined
    ? []
    : [{ fits: new RegExp(`^${patternOf(form)}$`), cacheControl: cacheControls[form.cache] }],
);

/** The rules as text: a file is uploaded again when they have changed since it was uploaded. */
export const headerRulesText: string = JSON.stringify([
  typesByExtension,
  typesByPath,
  cacheControls.page,
  cacheRules.map(({ fits, cacheControl }) => [fits.source, cacheControl]),
  "cache-tag",
]);

/** Sent with scripts too, because Pagefind's worker, which runs WebAssembly, obeys the policy of its own file. */
const contentSecurityPolicy = fileHeaders.content_security_policy.join("; ");

/** Headers of every file: the directory is public, for any origin. */
const { always } = fileHeaders;

/** Files that programs read: their Link header points to the descriptions of the API. Source: RFC 8288. */
const linkedPaths =
  /^(?:index\.html|\.well-known\/api-catalog|(?:api|changes|search)\/.*|nonprofits\/[^/]+\.md)$/;

/**
 * The headers of a file of the bundle, by its path without a leading slash. site/delivery/edge has the same rules for other
 * servers; test/site/delivery/edge-nginx.test.ts compares both.
 */
export function headersOf(path: string) {
  const surrogateKeys = surrogateKeysOf(path);
  const isGuarded = /\.(html|m?js)$/.test(path);
  const others: Readonly<Record<string, string>> = {
    ...always,
    "cache-tag": surrogateKeys.join(","),
    ...(isGuarded ? { "content-security-policy": contentSecurityPolicy } : {}),
    ...(linkedPaths.test(path) ? { link: descriptionLinks.join(", ") } : {}),
  };
  return {
    contentType: contentTypeOf(path),
    cacheControl:
      cacheRules.find(({ fits }) => fits.test(`/${path}`))?.cacheControl ?? cacheControls.page,
    /** The keys by which a cache can purge the answer, the narrowest first. */
    surrogateKeys,
    /** The other headers, by lower-case name: CORS, security, links, and the surrogate keys as `cache-tag`. */
    others,
  };
}

function contentTypeOf(path: string): string {
  const extension = /\.([a-z0-9]+)$/.exec(path)?.[1] ?? "";
  return typesByPath[path] ?? typesByExtension[extension] ?? "application/octet-stream";
}

const profilePath = /^(?:api\/)?(?:nonprofits|donate)\/([^/]+)\.[a-z]+$/;
const listPath = /^(causes|countries)\/([^/]+?)(?:-(\d+))?\.(?:html|md)$/;
const wholeListPath = /^api\/nonprofits(?:\/pages\/(\d+))?\.json$/;

/** The key of 404 answers: a release that adds a page makes them wrong. */
export const missingKey = "missing";

/** For example profile:water-for-all, or list:cause:education/2 and list:cause:education. The last is always `all`. */
function surrogateKeysOf(path: string): string[] {
  if (path === "404.html") return [missingKey, "all"];
  const slug = profilePath.exec(path)?.[1];
  if (slug !== undefined) return [`profile:${slug}`, "profiles", "all"];
  const wholeList = wholeListPath.exec(path);
  if (wholeList !== null) return [`list:all/${wholeList[1] ?? "1"}`, "list:all", "lists", "all"];
  const [, kind, name = "", page = "1"] = listPath.exec(path) ?? [];
  if (kind === undefined) return [`file:${path}`, "all"];
  const list = kind === "causes" ? `cause:${name}` : `country:${name}`;
  return [`list:${list}/${page}`, `list:${list}`, "lists", "all"];
}

/**
 * The files that may answer a URL path, the likeliest first. Empty for an invalid path or one that tries to leave the
 * bundle. Country codes match in any letter case.
 */
export function filePathsFor(urlPath: string): string[] {
  const path = decoded(urlPath);
  if (path === null) return [];
  if (path === "") return ["index.html"];
  const name = path.startsWith("countries/") ? path.toLowerCase() : path;
  const derivedName = name.startsWith("api/") ? `${name}.json` : `${name}.html`;
  return name.slice(name.lastIndexOf("/")).includes(".")
    ? [name, derivedName]
    : [derivedName, name];
}

function decoded(urlPath: string): string | null {
  let path = urlPath.startsWith("/") ? urlPath.slice(1) : urlPath;
  if (path.includes("%")) {
    try {
      path = decodeURIComponent(path);
    } catch {
      return null;
    }
  }
  if (path.length > urlPathMax || /[\\\0]/.test(path)) return null;
  if (path === "") return "";
  return path.split("/").some((part) => part === "" || part === "." || part === "..") ? null : path;
}

const urlPathMax = 1_024;

/** The address to which a URL path with a trailing slash redirects; null when it needs no redirect. Never another host. */
export const redirectOf = (urlPath: string): string | null => {
  if (!urlPath.endsWith("/") || urlPath.includes("\\")) return null;
  const bare = urlPath.replace(/\/+$/, "").replace(/^\/{2,}/, "/");
  return bare === "" ? null : bare;
};

/**
 * The profile to which /donate/{slug} redirects when the nonprofit has no wallet and thus no such page: it names other ways
 * to give. `page` is the file that may be published there later. Null for any other path. The path may end in .html,
 * because a CDN's function may turn an address into a key. See docs/decisions/25.
 */
export function givingProfileOf(
  urlPath: string,
): { profile: string; location: string; page: string } | null {
  const slug = /^\/donate\/([a-z0-9-]{1,200})(?:\.html)?$/.exec(urlPath)?.[1];
  if (slug === undefined) return null;
  const profile = `/nonprofits/${slug}`;
  return { profile, location: `${profile}#give`, page: `donate/${slug}.html` };
}

const listAddress = new RegExp(
  `^((?:/(?:${translationCodes}))?)(/(causes|countries)/([^/.]+?))(?:-(\\d+))?$`,
);
export const pageParameters: ReadonlySet<string> = new Set([...filterNames, "sort", "page"]);

/**
 * The address at which the service shows the part of a cause's or country's list that a URL asks for: filtered, sorted, or
 * a page that is no file. `list` is the path of the list's first page in English; `location` is in the requested language.
 * Null for any other URL.
 */
export function browseAddressOf(
  path: string,
  query: string,
): { list: string; location: string } | null {
  const [, language = "", list = "", kind, value = "", page = "1"] = listAddress.exec(path) ?? [];
  if (kind === undefined) return null;
  const parameters = [...new URLSearchParams(query)].filter(([name]) => pageParameters.has(name));
  const number = Number.parseInt(page, 10);
  if (parameters.length === 0 && number <= staticPagesMax) return null;
  const params = new URLSearchParams(parameters);
  params.set(kind === "causes" ? "cause" : "country", value);
  if (number > 1) params.set("page", String(number));
  return { list, location: `${language}/browse?${params.toString()}` };
}

/** The URL paths of a file of the bundle, the canonical one first. */
export function urlPathsOf(path: string): string[] {
  if (path === "index.html") return ["/", "/index.html"];
  const bare = /^(api\/.+)\.json$|^(.+)\.html$/.exec(path);
  const short = bare?.[1] ?? bare?.[2];
  return short === undefined ? [`/${path}`] : [`/${short}`, `/${path}`];
}
