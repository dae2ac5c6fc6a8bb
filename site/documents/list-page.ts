import {
  type FacetCounts,
  entriesPerPage,
  noFilters,
  staticPagesMax,
} from "#content/contract/browse.ts";
import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import causes from "#content/editorial/causes.json";
import { listAnswer } from "#content/nonprofit/wire.ts";
import { countInList, idsInList, listCounts } from "#content/nonprofit/list-store.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { type Entry, listPageView, type ListPageView } from "#site/lists/list-view.ts";
import { listParts, pageAddress, pageSizeOf, staticPages } from "#site/parts/address.ts";
import { enclosed, markdownLine, markdownPathOf, pageMarkdown } from "#site/parts/markdown.ts";
import {
  bothFormsOf,
  type BundleFile,
  type DocumentKey,
  type DocumentKind,
  type KnownPlaces,
  fileOf,
  partsOf,
  type Source,
  textOf,
  type Drawing,
  renderPage,
  listedFields,
  touches,
} from "./document.ts";

/** Pages of a list count from 1. */
export const listPageKey = (list: string, page: number): DocumentKey => `list-page ${list} ${page}`;

const itemsPerBatch = 1_000;

/** A page of a list as HTML and markdown; the whole directory as JSON, and only its first page as HTML and markdown. */
export const listPage: DocumentKind = {
  kind: "list-page",
  async *all({ store }) {
    const counts = await listCounts(store);
    const lists = new Set(["all", ...causes.map(({ id }) => `cause:${id}`), ...counts.keys()]);
    let batch: string[] = [];
    let items = 0;
    for (const list of lists) {
      if (list === "thin") continue;
      const pages = staticPages(list, counts.get(list) ?? 0);
      for (let page = 1; page <= pages; page++) {
        batch.push(listPageKey(list, page));
        items += pageSizeOf(list);
        if (items < itemsPerBatch) continue;
        yield batch;
        [batch, items] = [[], 0];
      }
    }
    if (batch.length > 0) yield batch;
  },
  async render(keys, source) {
    return filesOf(await Promise.all(keys.map((key) => placeOf(key, source))), source);
  },
  staleAtOnce: (change, context) => keptPages(change, context, (list) => list.startsWith("cause:")),
  staleLater: (change, context) => [
    ...keptPages(change, context, (list) => list !== "thin"),
    ...(touches(change, countedFields)
      ? [...context.places.keys()].map((list) => listPageKey(list, 1))
      : []),
  ],
};

/** Fields whose values the first page of each list counts. */
const countedFields: ReadonlySet<string> = new Set([
  "causes",
  "country_code",
  "region",
  "city",
  "verified",
  "status",
  "usdc_wallet",
  "website",
  "register_records",
]);

/** The pages that show a changed nonprofit, in the lists where it keeps its place. */
const keptPages = (
  change: Change,
  { places }: KnownPlaces,
  isShown: (list: string) => boolean,
): DocumentKey[] =>
  [...(touches(change, listedFields) ? places : [])]
    .filter(([list]) => isShown(list) && !change.moved_lists.includes(list))
    .map(([list, place]) => ({ list, page: Math.floor(place / pageSizeOf(list)) + 1 }))
    .filter(({ page }) => page <= staticPagesMax)
    .map(({ list, page }) => listPageKey(list, page));

/** One requested page: its ids, and the total of its list. `facets` only on the first page. */
type Place = {
  list: string;
  page: number;
  ids: readonly number[];
  total: number;
  facets: FacetCounts | null;
};

async function placeOf(key: string, { store, lists }: Source): Promise<Place> {
  const [, list = "", page = "1"] = partsOf(key);
  const first = page === "1";
  const limit = first ? entriesPerPage : pageSizeOf(list);
  const ids = await idsInList(store, list, { limit, offset: limit * (Number(page) - 1) });
  const facets = first ? await lists.facets(list) : null;
  return { list, page: Number(page), ids, total: await countInList(store, list), facets };
}

async function filesOf(places: readonly Place[], source: Source): Promise<BundleFile[]> {
  const ids = [...new Set(places.flatMap((place) => place.ids))];
  const summaryById = await summariesById(source.store, ids, source.baseUrl);
  const summaries = new Map(summaryById.map((summary) => [Number(summary.id), summary]));
  const files = await Promise.all(
    places.map(async (place) => {
      // Pages beyond the end of a list go; its first page stays, except for a country without nonprofits.
      const empty = place.ids.length === 0 && (place.page > 1 || place.list.startsWith("country:"));
      const gone = empty || place.page > staticPagesMax;
      if (gone) return bothFormsOf(pathOf(place)).map((path) => ({ path, body: null }));
      const json = place.list === "all" ? [await jsonPage(place, summaries, source)] : [];
      return isForPeople(place) ? [...json, ...(await shownPage(place, summaries, source))] : json;
    }),
  );
  return files.flat();
}

/** Of the whole directory, only the first page is in the bundle for people. */
const isForPeople = ({ list, page }: Place): boolean => list !== "all" || page === 1;

function jsonPage(
  { page, ids, total, ...place }: Place,
  summaries: ReadonlyMap<number, NonprofitSummary>,
  source: Source,
): Promise<BundleFile> {
  const { baseUrl } = source;
  const limit = pageSizeOf(place.list);
  const nonprofits = ids.slice(0, limit).flatMap((id) => summaries.get(id) ?? []);
  const offset = limit * (page - 1);
  const query = { filters: noFilters, sort: "relevance", limit, offset } as const;
  const answer = listAnswer({ baseUrl, query, total, nonprofits });
  const file = page === 1 ? "/api/nonprofits.json" : "/api/nonprofits/pages/[page].json";
  return fileOf(source, file, { answer }, pathOf({ page, ...place }));
}

/** The page of a list as HTML and as markdown. */
async function shownPage(
  place: Place,
  summaries: ReadonlyMap<number, NonprofitSummary>,
  source: Source,
): Promise<BundleFile[]> {
  const { list, ids, total, facets } = place;
  const { kind, value } = listParts(list);
  const view = listPageView({
    filters: list === "all" ? noFilters : { ...noFilters, [kind]: value },
    sort: "relevance",
    page: place.page,
    total,
    facets,
    items: ids.flatMap((id) => summaries.get(id) ?? []),
  });
  const path = list === "all" ? "browse.html" : pathOf(place);
  const html = await fileOf(source, "/browse", { view }, path);
  const markdown = { path: markdownPathOf(path) ?? "", body: listMarkdown(view, source.baseUrl) };
  if (list !== "all") return [html, markdown];
  // /nonprofits is the address that people guess.
  const guessed = [html, markdown].map((file) => ({
    ...file,
    path: file.path.replace("browse", "nonprofits"),
  }));
  return [html, markdown, ...guessed];
}

function pathOf({ list, page }: Pick<Place, "list" | "page">): string {
  if (list === "all") {
    return page === 1 ? "api/nonprofits.json" : `api/nonprofits/pages/${page}.json`;
  }
  return `${pageAddress(list, page)}.html`;
}

type DrawnPage = string | Uint8Array;
type PageFormat = { markdown: boolean };

/** Renders a page of entries, or the entries as markdown. */
export const renderList = async (
  drawing: Drawing,
  page: string,
  input: { view: Parameters<typeof listMarkdown>[0]; answered?: boolean },
  { markdown }: PageFormat,
): Promise<DrawnPage> =>
  markdown ? listMarkdown(input.view, drawing.baseUrl) : renderPage(drawing, page, input);

/** Renders a page as HTML, or that HTML as markdown. */
export async function renderView(
  drawing: Drawing,
  page: string,
  view: object,
  format: PageFormat,
): Promise<DrawnPage> {
  const html = await renderPage(drawing, page, { view });
  return format.markdown ? enclosed([pageMarkdown(textOf(html), drawing.baseUrl)], []) : html;
}

type ListForModels = Pick<
  ListPageView,
  "name" | "page" | "intro" | "total" | "order" | "entries" | "next" | "json"
> & {
  /** Entries grouped under headings, where there are any. */
  lists?: readonly { heading: string | null; entries: readonly Entry[] }[];
};

/** The page of a list as markdown; its links lead to markdown. `baseUrl` has no trailing slash. */
function listMarkdown(view: ListForModels, baseUrl: string): string {
  const lineOf = ({ path, name, verified, warning, note, text }: Entry) => {
    const marks = [verified ? "claimed" : "", warning ?? ""];
    const what = [...marks, note, text].filter((part) => part !== "");
    return `- [${markdownLine(name)}](${baseUrl}${path}.md): ${what.map(markdownLine).join(" · ")}`;
  };
  const lists = (view.lists ?? [{ heading: null, ...view }]).flatMap(({ heading, entries }) => [
    heading === null ? "" : `## ${heading}`,
    entries.map(lineOf).join("\n"),
  ]);
  const next = view.next?.includes("?") === false ? `${view.next}.md` : view.next;
  return enclosed(
    [
      `# ${markdownLine(view.name)}${view.page > 1 ? `, page ${view.page}` : ""}`,
      markdownLine(view.intro ?? ""),
      view.total === null ? "" : `${view.total}. ${view.order}.`,
      ...(view.entries.length === 0 ? ["No nonprofits here."] : lists),
    ],
    [...(next === null ? [] : [`Next page: ${baseUrl}${next}`]), `JSON: ${baseUrl}${view.json}`],
  );
}
