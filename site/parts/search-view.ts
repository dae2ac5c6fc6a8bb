import causes from "#content/editorial/causes.json";
import {
  searchLimitDefault,
  type SearchAnswer,
  type SearchAsked,
} from "#content/contract/search.ts";
import { type Entry, pageNumbers } from "./list-view.ts";
import { clipped, counted, joined } from "./words.ts";

/** The page of a search. `answer` is null for the page of the bundle, which a script fills from the index. */
export type SearchView = ReturnType<typeof searchView>;

type Found = Pick<SearchAnswer, "understood" | "note" | "total" | "nonprofits">;

const unanswered: Found = {
  understood: { number: null, place: null, words: [] },
  note: null,
  total: 0,
  nonprofits: [],
};
const filterNames = ["cause", "country", "accepts", "has_website"] as const;

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
    intro: found.note,
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
        : [{ text: `in ${place.shown}`, href: searchPath({ ...asked, literal: "1", page: 1 }) }]),
      ...filterNames.flatMap((name) => {
        const value = asked[name];
        const href = searchPath({ ...asked, [name]: undefined, page: 1 });
        return value === undefined ? [] : [{ text: chipWords(name, value), href }];
      }),
    ],
    literal: asked.literal !== undefined && asked.literal !== "",
    /** Reads places and numbers in the words again. */
    freely: searchPath({ ...asked, literal: undefined, page: 1 }),
    filters: filtersOf(asked),
    /** Whether the filters are shown before someone asks for them. */
    narrowed: filterNames.some((name) => asked[name] !== undefined),
    country: asked.country ?? "",
    start: (page - 1) * searchLimitDefault + 1,
    page,
    pages: pageNumbers(page, pageCount).map((number) => ({
      number,
      href: pathOf(number),
    })),
    next: page < pageCount ? pathOf(page + 1) : null,
    prev: page > 1 ? pathOf(Math.min(page - 1, pageCount)) : null,
    entries: found.nonprofits.map(entryOf),
    /** What is marked where it stands in an entry, or begins a word there. */
    words: found.understood.words,
  };
}

const filtersOf = (asked: SearchAsked) => [
  {
    name: "cause",
    label: "Cause",
    options: optionsOf(
      "Any cause",
      causes.map(({ id, name }) => [id, name]),
      asked.cause,
    ),
  },
  {
    name: "accepts",
    label: "Gifts",
    options: optionsOf("Any way to give", [["usdc", "Takes USDC"]], asked.accepts),
  },
  {
    name: "has_website",
    label: "Website",
    options: optionsOf("With or without", [["true", "Has a website"]], asked.has_website),
  },
];

const headingOf = (q: string, total: number): string => {
  const what = counted(total, "nonprofit", "nonprofits");
  if (q === "") return what;
  return total === 0 ? `Nothing found for “${q}”` : `${what} for “${q}”`;
};

function entryOf(found: SearchAnswer["nonprofits"][number]): Entry {
  const { slug, name, city, region, country, give_url, tagline, mission } = found;
  const people = found.beneficiaries_per_year;
  const reach = people === null ? null : `${counted(people, "person", "people")} a year`;
  return {
    path: `/nonprofits/${slug}`,
    name,
    verified: found.verified === 1,
    note: joined([joined([city, region, country], ", "), reach], " · "),
    text: clipped(tagline ?? mission ?? "", 180),
    gives: give_url !== null,
  };
}

const chipWords = (name: (typeof filterNames)[number], value: string): string => {
  if (name === "cause") return causes.find(({ id }) => id === value)?.name ?? value;
  if (name === "accepts") return "Takes USDC";
  if (name === "has_website") return value === "true" ? "Has a website" : "Has no website";
  return value;
};

const optionsOf = (
  any: string,
  known: readonly (readonly [value: string, text: string])[],
  asked: string | undefined,
) =>
  [["", any] as const, ...known].map(([value, text]) => ({
    value,
    text,
    selected: value === (asked ?? ""),
  }));

function searchPath(asked: SearchAsked): string {
  const params = new URLSearchParams();
  for (const name of ["q", ...filterNames, "literal"] as const) {
    const value = asked[name];
    if (value !== undefined && value !== "") params.set(name, value);
  }
  if (asked.page !== undefined && asked.page > 1) params.set("page", String(asked.page));
  return params.size === 0 ? "/search" : `/search?${params.toString()}`;
}
