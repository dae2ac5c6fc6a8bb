import causes from "#content/editorial/causes.json";
import { countryName } from "#content/nonprofit/country.ts";
import { causeName, listAnswer, toSummary } from "#content/nonprofit/wire.ts";
import { type ListItem, listCounts, listItemsById } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { type ListPage, listPageView } from "#site/parts/list-view.ts";
import { type BundleFile, type DocumentKind, partsOf, type Source } from "./document.ts";
import { folderOf, keyOf, listParts, pageSizeOf } from "./keys.ts";

const itemsPerBatch = 1_000;

/** A page of a list: causes and countries as HTML, the whole directory as JSON. */
export const listPage: DocumentKind = {
  kind: "list-page",
  async *all({ store }) {
    const counts = await listCounts(store);
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
    const places = await Promise.all(keys.map((key) => placeOf(key, source)));
    const files = await filesOf(places, source);
    return keys.map((key, at) => ({ key, files: [files[at] as BundleFile] }));
  },
};

/** One page that was asked for, with the ids that stand on it and how many stand in its list. */
type Place = { list: string; page: number; ids: readonly number[]; total: number };

async function placeOf(key: string, { lists }: Source): Promise<Place> {
  const [, list = "", page = "1"] = partsOf(key);
  const limit = pageSizeOf(list);
  const ids = await lists.ids(list, { limit, offset: limit * (Number(page) - 1) });
  return { list, page: Number(page), ids, total: await lists.count(list) };
}

async function filesOf(places: readonly Place[], source: Source): Promise<BundleFile[]> {
  const idsOf = (whole: boolean) => [
    ...new Set(places.flatMap(({ list, ids }) => ((list === "all") === whole ? ids : []))),
  ];
  const records = await recordsById(source.store, idsOf(true), { summaries: true });
  const summaries = new Map(records.map((record) => [record.id, toSummary(record)]));
  const items = await listItemsById(source.store, idsOf(false));
  return Promise.all(
    places.map(async (place): Promise<BundleFile> => {
      const { total } = place;
      const path = pathOf(place);
      // A list that shrank has fewer pages; its first page stays, but for a country without any nonprofit.
      const gone = place.ids.length === 0 && (place.page > 1 || place.list.startsWith("country:"));
      if (gone) return { path, body: null };
      if (place.list !== "all") return { path, body: await htmlPage(place, items, source) };
      const nonprofits = place.ids.flatMap((id) => summaries.get(id) ?? []);
      const limit = pageSizeOf("all");
      const offset = limit * (place.page - 1);
      const { baseUrl, renderer } = source;
      const answer = listAnswer({ baseUrl, total, limit, offset, nonprofits });
      const body = await (place.page === 1
        ? renderer.render("/api/nonprofits.json", { answer })
        : renderer.render("/api/nonprofits/pages/[page].json", { answer }));
      return { path, body };
    }),
  );
}

const causeIntros = new Map(causes.map(({ id, description }) => [id, description]));

function htmlPage(
  { list, page, ids, total }: Place,
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
