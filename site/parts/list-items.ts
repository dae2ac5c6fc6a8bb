import { countryName } from "#content/nonprofit/country.ts";
import type { ListItem } from "#content/nonprofit/list-store.ts";
import { clipped, counted, joined } from "./words.ts";

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
