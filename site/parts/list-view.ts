import type { ListItem } from "#content/nonprofit/list-store.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { clipped, counted, grouped, joined } from "./words.ts";

/** One page of a cause or a country. */
export type ListPageView = ReturnType<typeof listPageView>;

export type ListPage = {
  root: string;
  name: string;
  sort: { name: string; href: string };
  intro: string | null;
  page: number;
  pageSize: number;
  total: number;
  /** Path of the whole list as JSON. */
  json: string;
  items: readonly ListItem[];
};

/** What the page of a list shows, in words. */
export function listPageView(list: ListPage) {
  const { root, name, page, pageSize, total } = list;
  const pathOf = (number: number) => (number === 1 ? root : `${root}/${number}`);
  const from = (page - 1) * pageSize;
  const pageCount = Math.max(1, Math.ceil(total / pageSize));
  const first = page === 1;
  return {
    path: pathOf(page),
    root,
    name,
    sort: list.sort,
    json: list.json,
    title: `${name}${first ? "" : `, page ${page}`} · Almoner`,
    description: clipped(
      first && list.intro !== null
        ? list.intro
        : `${name}: nonprofits ${from + 1} to ${from + list.items.length} in an open directory for people and software agents.`,
      200,
    ),
    intro: first ? list.intro : null,
    /** "101–200": the places of this page. */
    span:
      list.items.length === 0 ? "" : `${grouped(from + 1)}–${grouped(from + list.items.length)}`,
    /** Only the first page tells the total, so that a new entry far down leaves the other pages as they are. */
    total: first ? counted(total, "nonprofit", "nonprofits") : null,
    pages: first
      ? Array.from({ length: pageCount }, (_, at) => ({ href: pathOf(at + 1), number: at + 1 }))
      : [],
    page,
    next: page < pageCount ? pathOf(page + 1) : null,
    prev: first ? null : pathOf(page - 1),
    /** The entries, as HTML that is safe. */
    items: listItemsHtml(list.items),
  };
}

/**
 * The entries of a list as HTML; everything of third parties is escaped. A page has a hundred of them and changes with
 * each: written as text they cost a fifth of what a component for each would.
 */
export const listItemsHtml = (items: readonly ListItem[]): string => items.map(itemHtml).join("");

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
