import causes from "#content/editorial/causes.json";
import { answerBytes, listAnswer } from "#content/rules/list-answer.ts";
import { causeName, countryName, toSummary } from "#content/rules/wire.ts";
import { countsOfLists, type ListItem, listItemsById } from "#content/store/list-pages.ts";
import { idsInList, listCounts } from "#content/store/lists.ts";
import { recordsById } from "#content/store/records.ts";
import { type ListPage, listPageView } from "#site/parts/list-view.ts";
import {
  type BundleFile,
  type DocumentKind,
  partsOf,
  type Source,
} from "#site/publisher/document.ts";
import { folderOf, keyOf, listParts, pageSizeOf } from "./keys.ts";

const itemsPerBatch = 1_000;

/** A page of a list: causes and countries as HTML, the whole directory as JSON. */
export const listPage: DocumentKind = {
  kind: "list-page",
  async *all({ store }) {
    const counts = await listCounts(store.raw);
    const lists = new Set(["all", ...causes.map(({ id }) => `cause:${id}`), ...counts.keys()]);
    let batch: string[] = [];
    let items = 0;
    for (const list of lists) {
      if (list === "thin") continue;
      const pages = Math.max(1, Math.ceil((counts.get(list) ?? 0) / pageSizeOf(list)));
      for (let page = 1; page <= pages; page++) {
        batch.push(keyOf.listPage(list, page));
        items += pageSizeOf(list);
        if (items < itemsPerBatch) continue;
        yield batch;
        [batch, items] = [[], 0];
      }
    }
    if (batch.length > 0) yield batch;
  },
  async render(keys, source) {
    const places = keys.map(placeOf);
    const counts = await countsOfLists(source.store.raw, [
      ...new Set(places.map(({ list }) => list)),
    ]);
    await loadIds(places, source);
    const files = await filesOf(places, counts, source);
    return keys.map((key, at) => ({ key, files: [files[at] as BundleFile] }));
  },
};

/** One page that was asked for, with the ids that stand on it. */
type Place = { list: string; page: number; ids: number[] };

function placeOf(key: string): Place {
  const [, list = "", page = "1"] = partsOf(key);
  return { list, page: Number(page), ids: [] };
}

/** Pages that follow each other in a list are asked for together. */
async function loadIds(places: readonly Place[], { store }: Source): Promise<void> {
  for (const [list, pages] of Map.groupBy(places, (place) => place.list)) {
    const size = pageSizeOf(list);
    const sorted = pages.toSorted((one, other) => one.page - other.page);
    for (let at = 0; at < sorted.length;) {
      const first = sorted[at]?.page ?? 1;
      let end = at + 1;
      while (sorted[end]?.page === first + (end - at)) end++;
      const range = { limit: size * (end - at), offset: size * (first - 1) };
      const ids = await idsInList(store.raw, list, range);
      for (const place of sorted.slice(at, end)) {
        place.ids = ids.slice(size * (place.page - first), size * (place.page - first + 1));
      }
      at = end;
    }
  }
}

async function filesOf(
  places: readonly Place[],
  counts: ReadonlyMap<string, number>,
  source: Source,
): Promise<BundleFile[]> {
  const idsOf = (whole: boolean) => [
    ...new Set(places.flatMap(({ list, ids }) => ((list === "all") === whole ? ids : []))),
  ];
  const records = await recordsById(source.store.raw, idsOf(true), { summaries: true });
  const summaries = new Map(records.map((record) => [record.id, toSummary(record)]));
  const items = await listItemsById(source.store.raw, idsOf(false));
  return Promise.all(
    places.map(async (place): Promise<BundleFile> => {
      const total = counts.get(place.list) ?? 0;
      const path = pathOf(place);
      // A list that shrank has fewer pages; its first page stays, but for a country without any nonprofit.
      const gone = place.ids.length === 0 && (place.page > 1 || place.list.startsWith("country:"));
      if (gone) return { path, body: null };
      if (place.list !== "all") return { path, body: await htmlPage(place, total, items, source) };
      const nonprofits = place.ids.flatMap((id) => summaries.get(id) ?? []);
      const limit = pageSizeOf("all");
      const offset = limit * (place.page - 1);
      const { baseUrl } = source;
      return { path, body: answerBytes(listAnswer({ baseUrl, total, limit, offset, nonprofits })) };
    }),
  );
}

const causeIntros = new Map(causes.map(({ id, description }) => [id, description]));

function htmlPage(
  { list, page, ids }: Place,
  total: number,
  items: ReadonlyMap<number, ListItem>,
  { renderer, baseUrl }: Source,
): Promise<Uint8Array> {
  const { kind, value } = listParts(list);
  const shown = ids.flatMap((id) => items.get(id) ?? []);
  const common = {
    root: `/${folderOf(list)}`,
    page,
    pageSize: pageSizeOf(list),
    total,
    items: shown,
  };
  const parts: ListPage =
    kind === "cause"
      ? {
          ...common,
          name: causeName(value),
          sort: { name: "Causes", href: "/causes" },
          json: `/api/search?cause=${value}`,
          intro: causeIntros.get(value) ?? null,
        }
      : {
          ...common,
          name: countryName(value) ?? value,
          sort: { name: "Countries", href: "/countries" },
          json: `/api/search?country=${value}`,
          intro: null,
        };
  return renderer.render(
    kind === "cause" ? "/causes/[id]/[...page]" : "/countries/[code]/[...page]",
    { baseUrl, view: listPageView(parts) },
  );
}

function pathOf({ list, page }: Place): string {
  if (list === "all") {
    return page === 1 ? "api/nonprofits.json" : `api/nonprofits/pages/${page}.json`;
  }
  return page === 1 ? `${folderOf(list)}.html` : `${folderOf(list)}/${page}.html`;
}
