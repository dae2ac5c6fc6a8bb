/** One value by which a list can be narrowed: how many it would leave, and where that list is. `chosen` leads back. */
export type FacetLink = { text: string; count: number; href: string; chosen: boolean };

/** Values of one kind, the most frequent first; `more` says how many others there are. */
export type FacetGroup = { label: string; links: readonly FacetLink[] };

/** Values that stand as links; a form has the others. */
export const facetLinksMax = 8;

/** A group of the values that tell most: those that are chosen, then the most frequent. None where there is no choice. */
export function facetGroup(label: string, all: readonly FacetLink[]): FacetGroup[] {
  const chosen = all.filter((one) => one.chosen);
  const others = all.filter((one) => !one.chosen && one.text !== "");
  if (chosen.length === 0 && others.length < 2) return [];
  return [{ label, links: [...chosen, ...others].slice(0, facetLinksMax) }];
}
