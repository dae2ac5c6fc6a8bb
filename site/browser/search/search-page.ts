import { el, part } from "#site/browser/dom.ts";
import { pathHere, sayingOf } from "#site/browser/texts.ts";
import { type FoundItem, type Index, openIndex } from "./engine.ts";
import { offerMore } from "./offer-more.ts";

// For pages of a search that no service answers: the bundle's own index answers at the same address.
const form = part("#search");
const heading = part("#search-heading");
const list = part("#search-list");
const aside = part("#narrow");
/** The link to it on a phone, where it is below the results. */
const jump = part("#search-jump");
/** One section for each filter of the index. */
const sections = [...aside.querySelectorAll<HTMLElement>("section")];
const pageSize = 20;
const linksMax = 8;
const { lang } = document.documentElement;
const numbers = new Intl.NumberFormat(lang);
const parameters = new URLSearchParams(location.search);
const text = sayingOf(form);
const words = parameters.get("q")?.trim() ?? "";
const filters = Object.fromEntries(
  sections.flatMap(({ dataset: { facet = "" } }) => {
    const value = parameters.get(facet);
    return value === null || value === "" ? [] : [[facet, value]];
  }),
);

if (words !== "" || Object.keys(filters).length > 0) void show();

async function show(): Promise<void> {
  (part("#search-words") as HTMLInputElement).value = words;
  form.append(
    ...Object.entries(filters).map(([name, value]) => el("input", { type: "hidden", name, value })),
  );
  // The index knows no coordinates, so it cannot search near a place.
  part("#search-near").hidden = true;
  heading.textContent = text("searching");
  try {
    const index = await openIndex();
    const results = await index.find(words, filters);
    const items = await results.items(0, pageSize);
    const { total: count } = results;
    const kind = count === 0 ? "none_for" : count < 2 ? "for" : "about_for";
    const q = words || sections.flatMap(chosenName).join(", ");
    heading.textContent = text(kind, { count, q });
    part("#search-none").hidden = count > 0;
    jump.hidden = count < 2;
    list.before(el("p", { class: "notice" }, [text("no_service")]));
    list.replaceChildren(...items.map(drawn));
    offerMore(list, results, { draw: drawn, words: text("more") });
    await narrow(index, count);
  } catch {
    if (list.childElementCount === 0) heading.textContent = text("away");
  }
}

const drawn = ({ url, title, note, line }: FoundItem): HTMLElement =>
  el("li", {}, [
    el("a", { href: pathHere(url), dir: "auto" }, [title]),
    el("p", { class: "note" }, [note]),
    el("p", {}, [line]),
  ]);

/** Links beside the results to the same search with each value, the most frequent first, as the service draws them. */
async function narrow(index: Index, total: number): Promise<void> {
  const counts = await index.counts(words, filters);
  for (const section of sections) {
    const { facet = "" } = section.dataset;
    const chosen = filters[facet];
    const values = Object.entries(counts[facet] ?? {})
      .map(([value, count]) => ({ value, count, name: nameOf(section, value) }))
      // A value of all results filters nothing out; once a value is chosen, the counts of the others are unknown.
      .filter(({ value, count }) =>
        chosen === undefined ? count > 0 && count < total : value === chosen,
      )
      .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
    part("ul", section).replaceChildren(
      ...values.slice(0, linksMax).map(({ value, count, name }) => {
        const query = new URLSearchParams({ q: words, ...filters, [facet]: value });
        if (chosen !== undefined) query.delete(facet);
        const current = chosen === undefined ? {} : { "aria-current": "true" };
        return el("li", {}, [
          el("a", { href: `?${query}`, rel: "nofollow", ...current }, [
            el("span", { dir: "auto" }, [name]),
            " ",
            ...(chosen === undefined
              ? [el("span", { class: "number" }, [numbers.format(count)])]
              : [
                  el("span", { "aria-hidden": "true" }, ["×"]),
                  el("span", { class: "unseen" }, [aside.dataset["remove"] ?? ""]),
                ]),
          ]),
        ]);
      }),
    );
    section.hidden = values.length === 0;
  }
  aside.hidden = sections.every(({ hidden }) => hidden);
  jump.hidden = aside.hidden;
}

const chosenName = (section: HTMLElement): string[] => {
  const value = filters[section.dataset["facet"] ?? ""];
  return value === undefined ? [] : [nameOf(section, value)];
};

/** The name of a value in the page's language. Browsers know the names of countries; the page provides the others. */
function nameOf({ dataset }: HTMLElement, value: string): string {
  if (dataset["names"] !== undefined) {
    const filterNames: Record<string, string> = JSON.parse(dataset["names"]);
    return (Object.hasOwn(filterNames, value) ? filterNames[value] : undefined) ?? value;
  }
  const names = new Intl.DisplayNames(lang, { type: "region" });
  return /^[A-Z]{2}$/.test(value) ? (names.of(value) ?? value) : value;
}
