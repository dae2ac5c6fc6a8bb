import {
  type BrowseQuery,
  browseParams,
  causeIds,
  entriesPerPage,
  staticPagesMax,
} from "#content/contract/browse.ts";
import type { FileFormat } from "#content/contract/operations/list-file.ts";
import { comparedMax } from "#content/contract/comparison.ts";
import { listLimit } from "#content/contract/nonprofit.ts";
import { countryCode } from "#content/nonprofit/country.ts";

/** The kind of a list and what it lists: "country:KE" → { kind: "country", value: "KE" }. */
export function listParts(list: string): { kind: string; value: string } {
  const [kind = "", value = ""] = list.split(":");
  return { kind, value };
}

/** Items on a page of this list; for the whole directory, in JSON, the default limit of GET /api/nonprofits. */
export const pageSizeOf = (list: string): number =>
  list === "all" ? listLimit.default : entriesPerPage;
/** How many pages of this list are in the bundle when it has `count` entries. */
export const staticPages = (list: string, count: number): number =>
  Math.min(staticPagesMax, Math.max(1, Math.ceil(count / pageSizeOf(list))));

/** The bundle's path of a list's page, without leading slash and ending: "causes/health-2". See docs/decisions/03. */
export function pageAddress(list: string, page: number): string {
  const { kind, value } = listParts(list);
  const first = kind === "cause" ? `causes/${value}` : `countries/${value.toLowerCase()}`;
  return page === 1 ? first : `${first}-${page}`;
}

/** The URL path of a list's page: the first pages of causes and countries are files, the service makes all others. */
export function listPath(list: Pick<BrowseQuery, "filters" | "sort">, page: number): string {
  const params = browseParams(list);
  const [only] = [...params];
  const whole = params.size === 1 && only !== undefined ? wholeLists[only[0]]?.(only[1]) : null;
  if (typeof whole === "string" && page <= staticPagesMax) return `/${pageAddress(whole, page)}`;
  if (page > 1) params.set("page", String(page));
  return withParams("/browse", params);
}

/** The list in the bundle that equals a single filter; null when there is none. */
const wholeLists: Readonly<Record<string, (value: string) => string | null>> = {
  cause: (id) => (causeIds.includes(id) ? `cause:${id}` : null),
  country: (text) => {
    const code = countryCode(text);
    return code === null ? null : `country:${code}`;
  },
};

/** Links to the whole list in each file format and to the comparison of its first entries. `json`: the path of one page. */
export function listLinks({
  json,
  entries,
}: {
  json: string;
  entries: readonly { path: string }[];
}) {
  const whole = json.replaceAll(/[?&](?:limit|offset)=\d+/g, "");
  const as = (format: FileFormat) => `${whole}${whole.includes("?") ? "&" : "?"}format=${format}`;
  const slugs = entries.slice(0, comparedMax).map(({ path }) => path.replace("/nonprofits/", ""));
  return { csv: as("csv"), ndjson: as("ndjson"), compare: `/compare?orgs=${slugs.join(",")}` };
}

export const withParams = (path: string, params: URLSearchParams): string =>
  params.size === 0 ? path : `${path}?${params.toString()}`;
