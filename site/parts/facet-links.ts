import { clipped } from "./words.ts";

/** One value by which a list can be narrowed: how many it would leave, and where that list is. `chosen` leads back. */
export type FacetLink = { text: string; count: number; href: string; chosen: boolean };

/** Values of one kind, the most frequent first. */
export type FacetGroup = { label: string; links: readonly FacetLink[] };

/** Values that stand as links; a form has the others. */
const textMax = 48;
const facetLinksMax = 8;

/**
 * A group of the values that tell most: those that are chosen, then the most frequent. None where no value would leave
 * fewer than the `total` of now.
 */
export function facetGroup(label: string, all: readonly FacetLink[], total: number): FacetGroup[] {
  const chosen = all.filter((one) => one.chosen);
  const others = all.filter((one) => !one.chosen);
  if (chosen.length === 0 && others.every(({ count }) => count === total)) return [];
  const shown = [...chosen, ...others].slice(0, facetLinksMax);
  return [{ label, links: shown.map((one) => ({ ...one, text: clipped(one.text, textMax) })) }];
}
