import descriptionLinks from "#content/editorial/description-links.json";
import fileHeaders from "#content/editorial/file-headers.json";
import mediaTypes from "#content/editorial/media-types.json";
import type { CacheClass } from "#content/contract/addresses.ts";
import { addressForms, patternOf } from "#content/language/address-pattern.ts";
import { filterNames, staticPagesMax } from "#content/contract/browse.ts";
import { translationCodes } from "#content/language/languages.ts";

const typesByExtension: Readonly<Record<string, string>> = mediaTypes;

/** Files whose name does not tell what they are. Source: RFC 9727; x402scan. */
const typesByPath: Readonly<Record<string, string>> = fileHeaders.types_by_path;

/**
 * `week`: Pagefind names its parts by a short digest of their content. `asks`: a snapshot and its manifest must not come from
 * two releases, so a cache has to ask each time.
 */
export const cacheControls: Readonly<Record<CacheClass, string>> = fileHeaders.cache_controls;

/** The first that fits counts. */
const cacheRules = addressForms.flatMap((form) =>
  form.cache === undefined
    ? []
    : [{ fits: new RegExp(`^${patternOf(form)}$`), cacheControl: cacheControls[form.cache] }],
);

/** The rules as text: an uploaded file is sent again when they are not those it was sent with. */
export const headerRulesText: string = JSON.stringify([
  typesByExtension,
  typesByPath,
  cacheControls.page,
  cacheRules.map(({ fits, cacheControl }) => [fits.source, cacheControl]),
  "cache-tag",
]);

/** Pagefind runs WebAssembly, and its worker obeys the policy of its own file. */
const contentSecurityPolicy = fileHeaders.content_security_policy.join("; ");

/** Sent with every file: the directory is public, for any origin. */
const { always } = fileHeaders;

/** What programs read links to the descriptions of all that they can ask. Source: RFC 8288. */
const linkedPaths =
  /^(?:index\.html|\.well-known\/api-catalog|(?:api|changes|search)\/.*|nonprofits\/[^/]+\.md)$/;

/**
 * The headers of a file of the bundle, by its path without a leading slash. site/delivery/edge gives other servers the same
 * rules; test/site/delivery/edge-nginx.test.ts holds them together.
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
    /** What a cache files the answer under, the narrowest first. */
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

/** Answers that say that nothing is there: a release that adds a page makes them wrong. */
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
 * The files that can answer a URL path, the likeliest first. Empty for a path that no file may answer: one that is
 * not valid, or that tries to leave the bundle. Country codes may be written in any letter case.
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

/** Where a URL path with a slash at its end is found, or null when it needs no redirect. Never another host. */
export const redirectOf = (urlPath: string): string | null => {
  if (!urlPath.endsWith("/") || urlPath.includes("\\")) return null;
  const bare = urlPath.replace(/\/+$/, "").replace(/^\/{2,}/, "/");
  return bare === "" ? null : bare;
};

/**
 * The profile that stands in for a page /donate/{slug} that is not there, because the nonprofit has no wallet: it names
 * other ways to give; `page` is the file that may come to stand here. Null for any other path. A CDN whose function made
 * a key of the address asks with the key. See docs/decisions/25.
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
 * Where the service shows a part of a list that the address of a cause or a country asks for: narrowed, sorted, or a page
 * that is no file. `list` is the path of the list's first page
 * in English; the page is in the language that was asked for. Null for any other URL.
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

/** The URL paths at which a file of the bundle is found, the canonical one first. */
export function urlPathsOf(path: string): string[] {
  if (path === "index.html") return ["/", "/index.html"];
  const bare = /^(api\/.+)\.json$|^(.+)\.html$/.exec(path);
  const short = bare?.[1] ?? bare?.[2];
  return short === undefined ? [`/${path}`] : [`/${short}`, `/${path}`];
}
