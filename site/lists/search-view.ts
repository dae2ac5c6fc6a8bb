import {
  searchLimitDefault,
  type SearchAnswer,
  type SearchInput,
} from "#content/contract/search.ts";
import { type FacetCounts, givenFilters } from "#content/contract/browse.ts";
import { english, type Texts } from "#content/language/texts.ts";
import {
  entriesOf,
  type Entry,
  type FacetGroup,
  facetGroup,
  filterText,
  linkedFacets,
  namedFacets,
  pagerOf,
  meantBy,
} from "./list-view.ts";
import { withParams } from "#site/parts/address.ts";
import { clipped, rowNames } from "#site/parts/words.ts";
import { type ReadChip, readIn } from "#site/browser/search/understood.ts";

/** The page of a search. `answer` is null for the page in the bundle, which a script fills from the index. */
export type SearchView = ReturnType<typeof searchView>;

type SearchResults = Pick<
  SearchAnswer,
  "understood" | "note" | "total" | "matching" | "nonprofits"
> & {
  /** The number of results of each value; null when there are too many results to count. */
  facets?: FacetCounts | null;
};

const unanswered: SearchResults = {
  understood: { number: null, place: null, words: [], corrections: [] },
  note: null,
  total: 0,
  matching: 0,
  nonprofits: [],
};
export function searchView(query: SearchInput, answer: SearchResults | null, t: Texts = english) {
  const results = answer ?? unanswered;
  const q = query.q ?? "";
  const { page = 1 } = query;
  const start = (page - 1) * searchLimitDefault;
  const entries = entriesOf(results.nonprofits, t);
  const { near } = results.understood;
  const standing = standingLink(query, results, t);
  const pathOf = (number: number) => searchPath({ ...query, page: number });
  return {
    q,
    title: q === "" ? t.text("search.title") : t.text("search.title_for", { q }),
    name: answer === null ? t.text("search.heading") : headingOf(q, answer.total, t),
    /** A note on the results, shown before them. */
    intro: standing === null ? introOf(query, results, t) : null,
    total: null,
    order: "",
    path: pathOf(page),
    /** The path of the same answer as JSON. */
    json: pathOf(page)
      .replace(/^\/search/, "/api/search")
      .replace(/page=\d+/, `offset=${start}`),
    chips: [
      ...readIn(q, results.understood).map((chip) => ({
        text: readText(chip, t),
        href: searchPath({ ...query, q: chip.q, literal: chip.literal ? "1" : "", page: 1 }),
      })),
      ...(query.literal
        ? [{ text: t.text("read.literal"), href: searchPath({ ...query, literal: "", page: 1 }) }]
        : []),
      ...nearChip(query, near, t),
      ...givenFilters(query).map(([name, value]) => ({
        text: filterText(name, value, t),
        href: searchPath({ ...query, [name]: undefined, page: 1 }),
      })),
    ],
    /** A link to the search for the words as typed; null when no place was recognised. */
    asTyped: results.understood.place && searchPath({ ...query, literal: "1", page: 1 }),
    standing,
    groups: groupsOf(query, results, t),
    indexed: indexedFilters(answer, t),
    /** Filters to keep in the next search. */
    fixed: [...givenFilters(query), ...reachOf(query)].map(([name, value]) => ({ name, value })),
    near: query.near,
    choices: choicesOf(query, results, t),
    page,
    ...pagerOf(page, Math.ceil(results.total / searchLimitDefault), pathOf),
    entries,
    /** The results as structured data. */
    items: { paths: entries.map(({ path }) => path), start: start + 1, total: results.total },
    lists: listsOf(entries, start, results, t),
    /** Words to mark in the entries, also as the beginning of a longer word. */
    words: results.understood.words,
  };
}

/** The matches and, under a heading, merely related results. When nothing matches, the note says what the results are. */
function listsOf(entries: readonly Entry[], offset: number, { matching }: SearchResults, t: Texts) {
  const whole = { heading: null, start: offset + 1, entries };
  const first = Math.max(0, matching - offset);
  if (matching === 0 || first >= entries.length) return [whole];
  const heading = t.text("row.related");
  const related = { heading, start: offset + first + 1, entries: entries.slice(first) };
  return first === 0 ? [related] : [{ ...whole, entries: entries.slice(0, first) }, related];
}

function readText({ text, values }: ReadChip, t: Texts): string {
  const { place } = values;
  const named = place === undefined ? {} : { place: clipped(t.country(place) ?? place, 60) };
  return t.text(`read.${text}`, { ...values, ...named });
}

/** Places or values that may be meant, each with a link to its search. */
function choicesOf(query: SearchInput, { total, understood }: SearchResults, t: Texts) {
  const hrefWith = (value: Partial<SearchInput>) => searchPath({ ...query, ...value, page: 1 });
  const places = understood.near?.choices ?? [];
  const meant = total > 0 ? [] : meantBy(query, hrefWith, t);
  return [...places.map((text) => ({ text, href: hrefWith({ near: text }) })), ...meant];
}

function nearChip(query: SearchInput, near: SearchResults["understood"]["near"], t: Texts) {
  if (near === undefined || near.choices !== undefined) return [];
  const without = query.near === undefined ? { literal: "1" } : { near: "" };
  const text = t.text("search.near_place", { place: near.name, km: near.within_km });
  return [{ text, href: searchPath({ ...query, ...without, page: 1 }) }];
}

/** The filters of the bundle's own index, for a page without the service. `names` are JSON. */
function indexedFilters(answer: SearchResults | null, t: Texts) {
  if (answer !== null) return [];
  return [
    { facet: "cause", label: t.text("facet.cause"), names: JSON.stringify(rowNames(t)) },
    { facet: "country", label: t.text("facet.country"), names: undefined },
  ];
}

/** Links beside the results, to the same search with each value. */
function groupsOf(query: SearchInput, { facets, total }: SearchResults, t: Texts): FacetGroup[] {
  if (facets === undefined || facets === null) return [];
  const named = namedFacets(facets, t);
  return linkedFacets.flatMap((facet) => {
    const hrefWith = (value: string | null) =>
      searchPath({ ...query, [facet]: value ?? undefined, page: 1 });
    return facetGroup(facet, named[facet], { current: query[facet] ?? null, total, hrefWith }, t);
  });
}

/** For a number without a profile, what registers say of it. The service's note names an address of the API. */
function standingLink(query: SearchInput, { total, understood }: SearchResults, t: Texts) {
  const { number } = understood;
  if (number === null || total > 0 || givenFilters(query).length > 0) return null;
  const text = t.text("organisation.description", { name: number });
  return { href: `/organisations/${number}`, text };
}

function introOf(query: SearchInput, results: SearchResults, t: Texts): string | null {
  const { note, total, matching, understood } = results;
  const { name: place = "", choices } = understood.near ?? {};
  if (choices !== undefined)
    return t.text(choices.length === 0 ? "search.near_none" : "search.near_which", { place });
  if (total === 0 && givenFilters(query).length > 0)
    return t.text(choicesOf(query, results, t).length > 0 ? "list.meant" : "search.narrowed_none");
  // The service's note is in English.
  if (t === english || note === null) return note;
  return total === 0 || matching > 0 ? null : t.text("search.similar");
}

const headingOf = (q: string, total: number, t: Texts): string => {
  const nonprofits = t.text("count.nonprofits", { count: total });
  if (q === "") return nonprofits;
  return total === 0
    ? t.text("search.none_for", { q })
    : t.text("search.found_for", { nonprofits, q });
};

const reachOf = ({ within_km }: SearchInput): [string, string][] =>
  within_km === undefined ? [] : [["within_km", String(within_km)]];

function searchPath({ q = "", near = "", literal = "", page = 1, ...query }: SearchInput): string {
  const params = new URLSearchParams([
    ...(q === "" ? [] : [["q", q]]),
    ...(near === "" ? [] : [["near", near]]),
    ...reachOf(query),
    ...givenFilters(query),
    ...(literal === "" ? [] : [["literal", literal]]),
    ...(page > 1 ? [["page", String(page)]] : []),
  ]);
  return withParams("/search", params);
}
