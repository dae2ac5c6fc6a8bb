import { clipped } from "#site/parts/words.ts";

/** One value by which a list can be narrowed: how many it would leave, and where that list is. `chosen` leads back. */
export type FacetLink = { text: string; count: number; href: string; chosen: boolean };

/** Values of one kind, the most frequent first. */
export type FacetGroup = { label: string; links: readonly FacetLink[] };

/** Values that stand as links; a form has the others. */
const textMax = 48;
const facetLinksMax = 8;

type Value = { value: string; name: string; count: number };
type Linked = {
  total: number;
  isChosen: (value: string) => boolean;
  linkOf: (value: Value) => FacetLink;
};

/**
 * A group of the values that tell most: those that are chosen, then the most frequent. None where no value would leave
 * fewer than the `total` of now.
 */
export function facetGroup(
  label: string,
  values: readonly Value[],
  { total, isChosen, linkOf }: Linked,
): FacetGroup[] {
  const chosen = values.filter(({ value }) => isChosen(value));
  const others = values.filter(({ value }) => !isChosen(value));
  if (chosen.length === 0 && others.every(({ count }) => count === total)) return [];
  const links = [...chosen, ...others].slice(0, facetLinksMax).map(linkOf);
  return [{ label, links: links.map((one) => ({ ...one, text: clipped(one.text, textMax) })) }];
}
