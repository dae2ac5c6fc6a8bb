import causes from "#content/editorial/causes.json";
import {
  searchLimitDefault,
  type SearchAnswer,
  type SearchAsked,
} from "#content/contract/search.ts";
import { type FacetCounts, givenFilters } from "#content/contract/browse.ts";
import { english, type Texts } from "#content/language/texts.ts";
import {
  entriesOf,
  type FacetGroup,
  facetGroup,
  filterText,
  linkedFacets,
  namedFacets,
  pageNumbers,
} from "./list-view.ts";
import { withParams } from "#site/parts/address.ts";
import { clipped } from "#site/parts/words.ts";

/** The page of a search. `answer` is null for the page of the bundle, which a script fills from the index. */
export type SearchView = ReturnType<typeof searchView>;

type SearchResults = Pick<SearchAnswer, "understood" | "note" | "total" | "nonprofits"> & {
  /** How many results each value would give; null when they are too many to count. */
  facets?: FacetCounts | null;
};

const unanswered: SearchResults = {
  understood: { number: null, place: null, words: [], corrections: [] },
  note: null,
  total: 0,
  nonprofits: [],
};
export function searchView(asked: SearchAsked, answer: SearchResults | null, t: Texts = english) {
  const found = answer ?? unanswered;
  const q = asked.q ?? "";
  const { page = 1 } = asked;
  const place = found.understood.place;
  const pageCount = Math.max(1, Math.ceil(found.total / searchLimitDefault));
  const previous = Math.min(page - 1, pageCount);
  const pathOf = (number: number) => searchPath({ ...asked, page: number });
  return {
    q,
    title: q === "" ? t.text("search.title") : t.text("search.title_for", { q }),
    name: answer === null ? t.text("search.heading") : headingOf(q, answer.total, t),
    /** What is to be known of the results before they are read. */
    intro: introOf(asked, found, t),
    total: null,
    order: "",
    path: pathOf(page),
    /** Path of the same answer for programs. */
    json: pathOf(page)
      .replace(/^\/search/, "/api/search")
      .replace(/page=\d+/, `offset=${(page - 1) * searchLimitDefault}`),
    chips: [
      ...(place === null
        ? []
        : [
            {
              text: t.text("read.in_place", {
                place: clipped(t.country(place.shown) ?? place.shown, 60),
              }),
              href: searchPath({ ...asked, literal: "1", page: 1 }),
            },
          ]),
      ...givenFilters(asked).map(([name, value]) => ({
        text: filterText(name, value, t),
        href: searchPath({ ...asked, [name]: undefined, page: 1 }),
      })),
    ],
    literal: asked.literal !== undefined && asked.literal !== "",
    /** Reads places and numbers in the words again. */
    freely: searchPath({ ...asked, literal: undefined, page: 1 }),
    groups: groupsOf(asked, found, t),
    indexed: indexedFilters(answer, t),
    /** What narrows the search narrows the next one, too. */
    fixed: givenFilters(asked).map(([name, value]) => ({ name, value })),
    start: (page - 1) * searchLimitDefault + 1,
    page,
    pages: pageNumbers(page, pageCount).map((number) => ({
      number,
      href: pathOf(number),
    })),
    next: page < pageCount ? pathOf(page + 1) : null,
    prev: previous < 1 ? null : { number: previous, href: pathOf(previous) },
    entries: entriesOf(found.nonprofits, t),
    /** What is marked where it stands in an entry, or begins a word there. */
    words: found.understood.words,
  };
}

/** What the directory's own index narrows by, where no service answers. The names of values are JSON. */
function indexedFilters(answer: SearchResults | null, t: Texts) {
  if (answer !== null) return [];
  const names = Object.fromEntries(causes.map(({ id, name }) => [id, t.word(name)]));
  return [
    { facet: "cause", label: t.text("facet.cause"), names: JSON.stringify(names) },
    { facet: "country", label: t.text("facet.country"), names: undefined },
  ];
}

/** Links to the same search with each value, beside its results. */
function groupsOf(asked: SearchAsked, { facets, total }: SearchResults, t: Texts): FacetGroup[] {
  if (facets === undefined || facets === null) return [];
  const named = namedFacets(facets, t);
  return linkedFacets.flatMap((facet) => {
    const hrefWith = (value: string | null) =>
      searchPath({ ...asked, [facet]: value ?? undefined, page: 1 });
    return facetGroup(facet, named[facet], { current: asked[facet] ?? null, total, hrefWith }, t);
  });
}

function introOf(asked: SearchAsked, { note, total }: SearchResults, t: Texts): string | null {
  if (total === 0 && givenFilters(asked).length > 0) {
    return t.text("search.narrowed_none");
  }
  if (note === null || total === 0) return note;
  const similar = t.text("search.similar");
  // The service says in English how it read the words.
  return t === english ? `${similar} ${note}` : similar;
}

const headingOf = (q: string, total: number, t: Texts): string => {
  const nonprofits = t.text("count.nonprofits", { count: total });
  if (q === "") return nonprofits;
  return total === 0
    ? t.text("search.none_for", { q })
    : t.text("search.found_for", { nonprofits, q });
};

function searchPath({ q = "", literal = "", page = 1, ...filters }: SearchAsked): string {
  const params = new URLSearchParams([
    ...(q === "" ? [] : [["q", q]]),
    ...givenFilters(filters),
    ...(literal === "" ? [] : [["literal", literal]]),
    ...(page > 1 ? [["page", String(page)]] : []),
  ]);
  return withParams("/search", params);
}
