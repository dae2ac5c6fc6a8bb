import type { NonprofitList } from "#content/contract/nonprofit.ts";
import { el, part } from "./dom.ts";
import { pathHere } from "./texts.ts";

const shownMax = 3;
const lists = part(".nearby ul");

/** Names three organisations of the nearest lists before the links to these: in the file they would go stale with any neighbour. */
async function show(): Promise<void> {
  const others = new Map<string, string>();
  for (const { dataset } of lists.querySelectorAll<HTMLElement>("[data-json]")) {
    const answer = await fetch(`${dataset["json"]}&limit=${shownMax + 1}&shape=a&fields=slug,name`);
    const { nonprofits } = (await answer.json()) as Pick<NonprofitList, "nonprofits">;
    for (const { slug, name } of nonprofits) others.set(slug, name);
    others.delete(location.pathname.split("/").at(-1) ?? "");
    if (others.size >= shownMax) break;
  }
  const compare = part("#compare");
  const compared = [compare.getAttribute("href"), ...[...others.keys()].slice(0, shownMax)];
  compare.setAttribute("href", compared.join(","));
  for (const [slug, name] of [...others].slice(0, shownMax).toReversed()) {
    const href = pathHere(`/nonprofits/${slug}`);
    lists.prepend(el("li", {}, [el("a", { href, dir: "auto" }, [name])]));
  }
}

new IntersectionObserver(([seen], observer) => {
  if (seen?.isIntersecting === true) observer.disconnect();
  if (seen?.isIntersecting === true) void show().catch(() => {});
}).observe(lists);
