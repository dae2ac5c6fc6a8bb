import type { NonprofitList } from "#content/contract/nonprofit.ts";
import { el, part } from "./dom.ts";
import { pathHere } from "./texts.ts";

const similarMax = 3;
const lists = part(".nearby ul");

/** The API's filters of a list: "cause=education" of /causes/education, "country=US" of /countries/us, or a browse query. */
function filtersOf(href: string): URLSearchParams {
  const { pathname, search } = new URL(href);
  const [, list, id] = /\/(causes|countries)\/(.+)$/.exec(pathname) ?? [];
  if (id === undefined) return new URLSearchParams(search);
  return new URLSearchParams(list === "causes" ? { cause: id } : { country: id.toUpperCase() });
}

/** Adds three organisations of the nearest or wider lists before the links; in the file their names would go stale. */
async function show(): Promise<void> {
  const others = new Map<string, string>();
  const filters = filtersOf(lists.querySelector("a")?.href ?? "");
  for (const narrow of ["", "city", "region", "country"]) {
    if (narrow !== "" && !filters.has(narrow)) continue;
    filters.delete(narrow);
    if (filters.size === 0 || others.size >= similarMax) break;
    const answer = await fetch(
      `/api/nonprofits?${filters}&limit=${similarMax + 1}&shape=a&fields=slug,name`,
    );
    const { nonprofits } = (await answer.json()) as Pick<NonprofitList, "nonprofits">;
    for (const { slug, name } of nonprofits) others.set(slug, name);
    others.delete(location.pathname.split("/").at(-1) ?? "");
  }
  const compare = part("#compare");
  const compared = [compare.getAttribute("href"), ...[...others.keys()].slice(0, similarMax)];
  compare.setAttribute("href", compared.join(","));
  for (const [slug, name] of [...others].slice(0, similarMax).toReversed()) {
    const href = pathHere(`/nonprofits/${slug}`);
    lists.prepend(el("li", {}, [el("a", { href, dir: "auto" }, [name])]));
  }
}

new IntersectionObserver(([seen], observer) => {
  if (seen?.isIntersecting === true) observer.disconnect();
  if (seen?.isIntersecting === true) void show().catch(() => {});
}).observe(lists);
