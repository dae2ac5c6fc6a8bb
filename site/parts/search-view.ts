import {
  searchLimitDefault,
  type SearchAnswer,
  type SearchAsked,
} from "#content/contract/search.ts";
import type { FacetCounts } from "#content/nonprofit/browse-columns.ts";
import { facetsAnswer, facetValueName } from "#content/nonprofit/facets.ts";
import { type FacetGroup, facetGroup } from "./facet-links.ts";
import {
  type Entry,
  entryOf,
  facetLabel,
  isSameValue,
  linkedFacets,
  pageNumbers,
} from "./list-view.ts";
import { clipped, counted } from "./words.ts";

/** The page of a search. `answer` is null for the page of the bundle, which a script fills from the index. */
export type SearchView = ReturnType<typeof searchView>;

type Found = Pick<SearchAnswer, "understood" | "note" | "total" | "nonprofits"> & {
  /** How many results each value would give; null when they are too many to count. */
  facets?: FacetCounts | null;
};

const unanswered: Found = {
  understood: { number: null, place: null, words: [] },
  note: null,
  total: 0,
  nonprofits: [],
};
const filterNames = ["cause", "country", "region", "accepts", "has_website"] as const;

export function searchView(asked: SearchAsked, answer: Found | null) {
  const found = answer ?? unanswered;
  const q = asked.q ?? "";
  const { page = 1 } = asked;
  const place = found.understood.place;
  const pageCount = Math.max(1, Math.ceil(found.total / searchLimitDefault));
  const pathOf = (number: number) => searchPath({ ...asked, page: number });
  return {
    q,
    title: q === "" ? "Search · Almoner" : `${q} · Search · Almoner`,
    name: answer === null ? "Search" : headingOf(q, answer.total),
    /** What is to be known of the results before they are read. */
    intro: introOf(asked, found),
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
              text: `in ${clipped(place.shown, 60)}`,
              href: searchPath({ ...asked, literal: "1", page: 1 }),
            },
          ]),
      ...filterNames.flatMap((name) => {
        const value = asked[name];
        const href = searchPath({ ...asked, [name]: undefined, page: 1 });
        return value === undefined ? [] : [{ text: chipWords(name, value), href }];
      }),
    ],
    literal: asked.literal !== undefined && asked.literal !== "",
    /** Reads places and numbers in the words again. */
    freely: searchPath({ ...asked, literal: undefined, page: 1 }),
    groups: groupsOf(asked, found),
    /** What narrows the search narrows the next one, too. */
    fixed: filterNames.flatMap((name) => {
      const value = asked[name];
      return value === undefined ? [] : [{ name, value }];
    }),
    start: (page - 1) * searchLimitDefault + 1,
    page,
    pages: pageNumbers(page, pageCount).map((number) => ({
      number,
      href: pathOf(number),
    })),
    next: page < pageCount ? pathOf(page + 1) : null,
    prev: page > 1 ? pathOf(Math.min(page - 1, pageCount)) : null,
    entries: found.nonprofits.map((one): Entry => {
      const entry = entryOf({ ...one, text: one.tagline ?? one.mission });
      return { ...entry, gives: one.give_url !== null };
    }),
    /** What is marked where it stands in an entry, or begins a word there. */
    words: found.understood.words,
  };
}

/** Links to the same search with each value, beside its results. */
function groupsOf(asked: SearchAsked, { facets, total }: Found): FacetGroup[] {
  if (facets === undefined || facets === null) return [];
  const named = facetsAnswer(facets);
  return linkedFacets.flatMap((facet) => {
    const isChosen = (value: string) => isSameValue(facet, asked[facet] ?? "", value);
    return facetGroup(facetLabel(facet), named[facet], {
      ...{ total, isChosen },
      linkOf: ({ value, name: text, count }) => {
        const chosen = isChosen(value);
        const href = searchPath({ ...asked, [facet]: chosen ? undefined : value, page: 1 });
        return { text, count, chosen, href };
      },
    });
  });
}

function introOf(asked: SearchAsked, { note, total }: Found): string | null {
  if (total === 0 && filterNames.some((name) => asked[name] !== undefined)) {
    return "Nothing matches together with what the search is narrowed by. Take that away, or choose what has results.";
  }
  return note === null || total === 0 ? note : `No exact match, showing similar. ${note}`;
}

const headingOf = (q: string, total: number): string => {
  const what = counted(total, "nonprofit", "nonprofits");
  if (q === "") return what;
  return total === 0 ? `Nothing found for “${q}”` : `${what} for “${q}”`;
};

const chipWords = (name: (typeof filterNames)[number], value: string): string =>
  clipped(facetValueName(name, value), 60);

function searchPath(asked: SearchAsked): string {
  const params = new URLSearchParams();
  for (const name of ["q", ...filterNames, "literal"] as const) {
    const value = asked[name];
    if (value !== undefined && value !== "") params.set(name, value);
  }
  if (asked.page !== undefined && asked.page > 1) params.set("page", String(asked.page));
  return params.size === 0 ? "/search" : `/search?${params.toString()}`;
}
