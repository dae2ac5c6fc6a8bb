import type { ListItem } from "#content/nonprofit/list-store.ts";
import causes from "#content/editorial/causes.json";
import { causeName } from "#content/nonprofit/facets.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { clipped, counted, grouped, joined } from "./words.ts";

/** One page of a cause or a country. */
export type ListPageView = ReturnType<typeof listPageView>;

/** What tells the pages of causes from those of countries. */
const kinds = {
  cause: {
    sort: { name: "Causes", href: "/causes" },
    nameOf: causeName,
    introOf: (id: string) => causeIntros.get(id) ?? null,
  },
  country: {
    sort: { name: "Countries", href: "/countries" },
    nameOf: (code: string) => countryName(code) ?? code,
    introOf: () => null,
  },
} as const;

const causeIntros = new Map(causes.map(({ id, description }) => [id, description]));

export type ListPage = {
  kind: keyof typeof kinds;
  /** The cause or the country. */
  value: string;
  /** Path of the first page. */
  root: string;
  page: number;
  pageSize: number;
  total: number;
  items: readonly ListItem[];
};

/** What the page of a list shows, in words. */
export function listPageView({ kind, value, root, page, pageSize, total, items }: ListPage) {
  const { sort, nameOf, introOf } = kinds[kind];
  const name = nameOf(value);
  const first = page === 1;
  const intro = first ? introOf(value) : null;
  const pathOf = (number: number) => (number === 1 ? root : `${root}/${number}`);
  const from = (page - 1) * pageSize;
  const to = from + items.length;
  const pageCount = Math.max(1, Math.ceil(total / pageSize));
  return {
    path: pathOf(page),
    root,
    name,
    sort,
    /** Path of the whole list as JSON. */
    json: `/api/search?${kind}=${value}`,
    title: `${name}${first ? "" : `, page ${page}`} · Almoner`,
    description: clipped(
      intro ??
        `${name}: nonprofits ${from + 1} to ${to} in an open directory for people and software agents.`,
      200,
    ),
    intro,
    /** "101–200": the places of this page. */
    span: items.length === 0 ? "" : `${grouped(from + 1)}–${grouped(to)}`,
    /** Only the first page tells the total, so that a new entry far down leaves the other pages as they are. */
    total: first ? counted(total, "nonprofit", "nonprofits") : null,
    pages: first
      ? Array.from({ length: pageCount }, (_, at) => ({ href: pathOf(at + 1), number: at + 1 }))
      : [],
    page,
    next: page < pageCount ? pathOf(page + 1) : null,
    prev: first ? null : pathOf(page - 1),
    /** The entries, as HTML that is safe. */
    items: items.map(itemHtml).join(""),
  };
}

/**
 * An entry of a list as HTML; everything of third parties is escaped. A page has a hundred of them and changes with
 * each: written as text they cost a fifth of what a component for each would.
 */
function itemHtml(item: ListItem): string {
  const people = item.beneficiaries_per_year;
  const place = joined([item.city, item.region, countryName(item.country_code)], ", ");
  const reach = people === null ? null : `${counted(people, "person", "people")} a year`;
  const name = `<a href="/nonprofits/${escaped(item.slug)}" dir="auto">${escaped(item.name)}</a>`;
  const verified = item.verified === 1 ? ' <span class="mark good">Verified</span>' : "";
  const note = `<p class="note">${escaped(joined([place, reach], " · "))}</p>`;
  const text = clipped(item.text ?? "", 180);
  return `<li>${name}${verified}${note}${text === "" ? "" : `<p dir="auto">${escaped(text)}</p>`}</li>`;
}

const escaped = (text: string): string => Bun.escapeHTML(text);
