import {
  type FacetCounts,
  type FacetName,
  type Facets,
  type FilterName,
  type FilterParameters,
  type Filters,
  type ListSort,
  browseParams,
  entriesPerPage,
  facetNames,
  filtersOf,
  givenFilters,
  listSorts,
} from "#content/contract/browse.ts";
import causes from "#content/editorial/causes.json";
import { countryCode, countryName } from "#content/nonprofit/country.ts";
import { type Html, markup, type Part } from "#content/language/html.ts";
import { english, type Texts } from "#content/language/texts.ts";
import { facetsAnswer, facetValueName, comparedAs, wantedBy } from "#content/nonprofit/filters.ts";
import { unknownValues } from "#content/find/query.ts";
import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import { listPath, withParams } from "#site/parts/address.ts";
import { pictureOf } from "#site/parts/page-head.ts";
import { clipped, placesInLine, rowNames } from "#site/parts/words.ts";
import { type RowItem, rowNote, type RowWords, warningOf } from "#site/browser/search/row.ts";

export type ListPageView = ReturnType<typeof listPageView>;

const causeIntros = new Map(causes.map(({ id, description }) => [id, description]));

export type ListPage = {
  filters: Filters;
  sort: ListSort;
  page: number;
  total: number;
  items: readonly NonprofitSummary[];
  /** Counts of values. Null on later pages in the bundle: without totals a new entry elsewhere leaves them unchanged. */
  facets: FacetCounts | null;
};

export function listPageView(list: ListPage, t: Texts = english) {
  const { filters, sort, page, total, items, facets } = list;
  const { name, kicker, intro } = subjectOf(filters, t);
  const first = page === 1;
  const pathOf = (number: number) => listPath(list, number);
  const from = (page - 1) * entriesPerPage;
  const to = from + items.length;
  const narrowed = pathOf(page).includes("?");
  const chips = narrowed ? chipsOf(list, t) : [];
  return {
    path: pathOf(page),
    root: pathOf(1),
    name,
    kicker,
    /** Path of the same entries as JSON; for the first page, of the JSON list that begins with them. */
    json: jsonPath(list),
    feed: narrowed ? undefined : `${pathOf(1).replace("/browse", "/feed")}.atom`,
    title: t.text(first ? "list.title" : "list.title_of_page", { name, page }),
    description: clipped(
      (first && chips.length === 0 ? intro : null) ??
        t.text("list.description", { name, from: from + 1, to }),
      200,
    ),
    intro: first ? intro : null,
    picture: pictureOf(filters.cause),
    /** There is no end of filtered lists; search engines index the whole ones. */
    noindex: narrowed,
    /** "101–200": the places of this page. */
    span: items.length === 0 ? "" : `${t.number(from + 1)}–${t.number(to)}`,
    count: total,
    total: facets === null ? null : t.text("count.nonprofits", { count: total }),
    order: t.text(`order.${sort}`),
    start: from + 1,
    chips,
    ...nothingIn(list, narrowed, t),
    ...(facets === null ? notNarrowed : waysToNarrow(list, facets, { isFile: !narrowed, t })),
    page,
    ...pagerOf(page, Math.ceil(total / entriesPerPage), pathOf, facets !== null),
    entries: entriesOf(items, t),
  };
}

/** The message when nothing matches, with links to values that may be meant. */
function nothingIn({ filters, sort, total }: ListPage, narrowed: boolean, t: Texts) {
  const hrefWith = (value: FilterParameters) =>
    listPath({ filters: filtersOf({ ...filters, ...value }), sort }, 1);
  const meant = total > 0 ? [] : meantBy(filters, hrefWith, t);
  const none = narrowed ? "list.no_match" : "list.none";
  return { meant, none: meant.length > 0 ? "list.meant" : none } as const;
}

type NarrowingContext = { isFile: boolean; t: Texts };

function waysToNarrow(list: ListPage, counts: FacetCounts, { isFile, t }: NarrowingContext) {
  const facets = namedFacets(counts, t);
  const isOnMap = isUnitedStates(list.filters);
  const byRegion = narrowingOf(list, "region");
  return {
    groups: linkedFacets.flatMap((facet) =>
      isOnMap && facet === "region" ? [] : groupOf(list, facets, facet, t),
    ),
    sorts: list.total < 2 ? [] : sortsOf(list, t),
    states: isOnMap ? facets.region.map((value) => linkOf("region", value, byRegion)) : [],
    form: formOf(list, facets, { isFile, t }),
  };
}
const notNarrowed = { groups: [], sorts: [], states: [], form: null };

/** Links to the other pages of a list or a search; without page numbers when the total is not counted. */
export function pagerOf(
  page: number,
  pageCount: number,
  hrefOf: (page: number) => string,
  isCounted = true,
) {
  const previous = Math.min(page - 1, Math.max(1, pageCount));
  const numbers = isCounted ? pageNumbers(page, Math.max(1, pageCount)) : [];
  return {
    pages: numbers.map((number) => ({ href: hrefOf(number), number })),
    next: page < pageCount ? hrefOf(page + 1) : null,
    prev: previous < 1 ? null : { number: previous, href: hrefOf(previous) },
  };
}

/** The subject of a list: its cause, else its state or country, else the whole directory. */
function subjectOf({ cause, country, region }: Filters, t: Texts) {
  const code = countryCode(country ?? "");
  const state = region === null ? null : valueName("region", region, t);
  if (cause !== null) {
    const kicker = { name: t.text("frame.causes"), href: "/causes" };
    const place = state ?? (code && t.countryInSentence(countryName(code) ?? code));
    return { ...causeSubject(cause, place, t), kicker };
  }
  const whole = { name: state ?? t.text("frame.all"), href: "/browse" };
  if (country === null) return { ...whole, kicker: null, intro: null };
  const kicker = { name: t.text("frame.countries"), href: "/countries" };
  return { name: state ?? t.country(code) ?? country, kicker, intro: null };
}

function causeSubject(id: string, place: string | null, t: Texts) {
  const cause = t.word(facetValueName("cause", id));
  const intro = causeIntros.get(id);
  return {
    name: place === null ? cause : t.text("nearby.cause_in_country", { cause, place }),
    intro: intro === undefined ? null : t.word(intro),
  };
}

function jsonPath(list: Pick<ListPage, "filters" | "sort" | "page">): string {
  const params = browseParams(list);
  if (list.page > 1) {
    params.set("limit", String(entriesPerPage));
    params.set("offset", String((list.page - 1) * entriesPerPage));
  }
  return withParams("/api/nonprofits", params);
}

const linksMax = 9;

/** At most nine page numbers: the first, the last, and those around `page`. */
export function pageNumbers(page: number, pageCount: number): number[] {
  if (pageCount === 1) return [];
  const around = linksMax - 2;
  const from = Math.max(2, Math.min(page - (around - 1) / 2, pageCount - around));
  const between = Array.from({ length: around }, (_, at) => from + at);
  return [1, ...between.filter((number) => number < pageCount), pageCount];
}

const valueName = (facet: FacetName, value: string, t: Texts): string =>
  facet === "country"
    ? (t.country(countryCode(value)) ?? value)
    : t.word(facetValueName(facet, value));

export function filterText(filter: FilterName, value: string, t: Texts): string {
  if (filter === "ghd_aligned") return t.text("facet.ghd_aligned");
  const name = valueName(filter, value, t);
  return clipped(filter === "income" ? t.text("facet.income_chip", { value: name }) : name, 60);
}

/** The number of matches of each value, with the values' names in the language of `t`. */
export function namedFacets(counts: FacetCounts, t: Texts): Facets {
  const facets = facetsAnswer(counts);
  if (t === english) return facets;
  const named = facetNames.map((facet) => [
    facet,
    facets[facet].map((choice) => ({ ...choice, name: valueName(facet, choice.value, t) })),
  ]);
  return Object.fromEntries(named) as Facets;
}

/** A value by which a list can be filtered, its number of matches, and a link; if `chosen`, the link removes the filter. */
export type FacetLink = { text: string; count: number; href: string; chosen: boolean };

/** Values of one facet, the chosen ones first, then the most frequent. */
export type FacetGroup = { label: string; links: readonly FacetLink[] };

/** Limits of the links; a form has the other values. */
const textMax = 48;
const facetLinksMax = 8;

type Value = { value: string; name: string; count: number };
/** The value of one facet by which a list is filtered, and links to the list with another value, or with none. */
type Narrowing = { current: string | null; hrefWith: (value: string | null) => string };

/** A link to the list filtered by a value or, if it is chosen, without that filter. */
function linkOf(facet: FacetName, { value, name, count }: Value, by: Narrowing): FacetLink {
  const chosen = by.current !== null && isSameValue(facet, by.current, value);
  return { text: name, count, chosen, href: by.hrefWith(chosen ? null : value) };
}

/** At most eight values: the chosen, then the most frequent. Empty when no value would leave fewer than `total`. */
export function facetGroup(
  facet: FacetName,
  values: readonly Value[],
  { total, ...by }: Narrowing & { total: number },
  t: Texts,
): FacetGroup[] {
  const { current } = by;
  const isChosen = ({ value }: Value) => current !== null && isSameValue(facet, current, value);
  const chosen = values.filter(isChosen);
  const others = values.filter((value) => !isChosen(value));
  if (chosen.length === 0 && others.every(({ count }) => count === total)) return [];
  const links = [...chosen, ...others].slice(0, facetLinksMax).map((value) => {
    const link = linkOf(facet, value, by);
    return { ...link, text: clipped(link.text, textMax) };
  });
  return [{ label: t.text(`facet.${facet}`), links }];
}

/** Facets whose first values are links beside the list. */
export const linkedFacets = ["cause", "country", "region", "accepts"] as const;

const isUnitedStates = ({ country, region }: Filters): boolean =>
  country !== null && countryCode(country) === "US" && region === null;

const narrowingOf = ({ filters, sort }: ListPage, facet: FacetName): Narrowing => ({
  current: filters[facet],
  hrefWith: (value) => listPath({ filters: { ...filters, [facet]: value }, sort }, 1),
});

/** Empty when the list is about this facet: a file shows no numbers of other lists. */
function groupOf(list: ListPage, facets: Facets, facet: FacetName, t: Texts): FacetGroup[] {
  const isSubject = list.filters[facet] !== null && !listPath(list, 1).includes("?");
  const by = { ...narrowingOf(list, facet), total: list.total };
  return isSubject ? [] : facetGroup(facet, facets[facet], by, t);
}

const sortsOf = (list: ListPage, t: Texts) =>
  listSorts.map((sort) => ({
    text: t.text(`order.${sort}`),
    href: listPath({ ...list, sort }, 1),
    chosen: sort === list.sort,
  }));

/** A link for each filter that leads to the list without it. */
const chipsOf = ({ filters, sort }: ListPage, t: Texts) =>
  givenFilters(filters).map(([filter, value]) => {
    const without = { filters: { ...filters, [filter]: null }, sort };
    return { text: filterText(filter, value, t), href: listPath(without, 1) };
  });

/** The form's fields, with the number of matches of each value. */
function formOf({ filters, sort }: ListPage, facets: Facets, { isFile, t }: NarrowingContext) {
  // A file shows numbers of its own list only: those of other causes would change it too often.
  const fixed = givenFilters(filters).filter(([name]) => isFile || name === "ghd_aligned");
  return {
    fixed: fixed.map(([name, value]) => ({ name, value })),
    fields: facetNames
      .filter((facet) => fixed.every(([name]) => name !== facet))
      .map((facet) => {
        const current = filters[facet];
        const values = facets[facet].map(({ value, name, count }) => ({
          value,
          text: `${name} (${t.number(count)})`,
          selected: current !== null && isSameValue(facet, current, value),
        }));
        // A requested value without matches is shown too.
        const missing =
          current === null || values.some(({ selected }) => selected)
            ? []
            : [{ value: current, text: valueName(facet, current, t), selected: true }];
        return {
          name: facet,
          label: t.text(`facet.${facet}`),
          any: t.text(`facet.${facet}_any`),
          options: [...missing, ...values],
        };
      }),
    sorts: listSorts.map((value) => ({
      value: value === "relevance" ? "" : value,
      text: t.text(`order.${value}`),
      selected: value === sort,
    })),
  };
}

type Option = { value: string; text: string; selected: boolean };

/**
 * The options of a field as HTML. Places are texts of third parties, and Astro leaves angle brackets in attributes as they
 * are: harmless, but not for programs that search pages for tags.
 */
export const optionsHtml = (options: readonly Option[]): Html[] =>
  options.map(
    ({ value, text, selected }) =>
      markup`<option value="${value}"${selected && " selected"}>${text}</option>`,
  );

const isSameValue = (facet: FacetName, current: string, value: string): boolean =>
  wantedBy(facet, current) === comparedAs(facet, value);

/** Links to values that may be meant by unknown ones. */
export const meantBy = (filters: FilterParameters, hrefWith: HrefWith, t: Texts) =>
  unknownValues(filters).flatMap(({ filter, near }) =>
    near.map((choice) => ({
      text: filterText(filter, choice, t),
      href: hrefWith({ [filter]: choice }),
    })),
  );
type HrefWith = (value: FilterParameters) => string;

/** The entries of a list, in words; long texts are cut, because the profile has them in full. */
export function entriesOf(items: readonly RowItem[], t: Texts): Entry[] {
  const words: RowWords = {
    text: (name, values) => t.named("row", name, values),
    names: rowNames(t),
  };
  return items.map((item) => entryOf(item, words, t));
}

function entryOf(item: RowItem, words: RowWords, t: Texts) {
  const places = [item.city, item.region, t.country(item.country)].map((place) =>
    clipped(place ?? "", 60),
  );
  return {
    path: `/nonprofits/${item.slug}`,
    name: clipped(item.name, 200),
    verified: item.verified === 1,
    gives: item.give_url !== null,
    warning: warningOf(item, words),
    note: rowNote(item, placesInLine(places), words),
    text: clipped(item.tagline ?? item.mission ?? "", 180),
  };
}
export type Entry = ReturnType<typeof entryOf>;

/**
 * The entries of a list as HTML, with words that begin with one of `words` marked. Written as text: a page has a hundred,
 * and a component for each would cost five times as much.
 */
export const entriesHtml = (
  entries: readonly Entry[],
  t: Texts,
  words: readonly string[] = [],
): Html[] =>
  entries.map(({ path, name, verified, gives, warning, note, text }) => {
    const link = markup`<a href="${path}" dir="auto">${marked(name, words)}</a>`;
    const mark = verified && markup` <span class="mark good">${t.text("list.verified")}</span>`;
    const gift = gives && markup` <span class="mark">${t.text("list.usdc")}</span>`;
    const bad = warning !== null && markup` <span class="mark bad">${warning}</span>`;
    const what = text !== "" && markup`<p dir="auto">${marked(text, words)}</p>`;
    return markup`<li>${link}${mark}${gift}${bad}<p class="note">${note}</p>${what}</li>`;
  });

/** A text as HTML in which words that begin with one of `words` are marked. */
function marked(text: string, words: readonly string[]): Part {
  if (words.length === 0) return text;
  const any = words.map((word) => RegExp.escape(word)).join("|");
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])((?:${any})[\\p{L}\\p{N}]*)`, "iu"));
  return parts.map((part, at) => (at % 2 === 1 ? markup`<mark>${part}</mark>` : part));
}

export type RecommendedCard = {
  slug: string;
  name: string;
  city: string | null;
  country: string | null;
  why: string;
  intents: string;
  /** Who recommends it; null when that is not shown. */
  by: "recommendations.picked" | "recommendations.drafted" | null;
};
