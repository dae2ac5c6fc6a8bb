import { mayMatch, type ProfileWords, type StemMatch } from "./match.ts";

/** What tells whether a change of a profile alters an earlier search with words. */
export type KeptMatch = {
  match: StemMatch;
  /** Who matched, as `sketchOf` drew them; null when nobody knows. */
  members: Uint8Array | null;
};

/**
 * Whether a search may find something else, or in another order, now that a profile says this. Never false when it
 * does: a profile that did not match and does not match now is in no total and on no page.
 */
export const mayAlter = ({ match, members }: KeptMatch, profile: ProfileWords): boolean =>
  members === null || isDrawn(members, profile.id) || mayMatch(match, profile);

const bitsMin = 256;
const bitsMax = 2 ** 17;
/** So sparse, a profile that is no member is taken for one in 1 of 16 cases. */
const bitsPerMember = 16;

/** A set of ids in at most 16 kB: whoever is in it is found in it, and some others are as well. */
export function sketchOf(ids: ArrayLike<number>): Uint8Array {
  let bits = bitsMin;
  while (bits < bitsMax && bits < bitsPerMember * ids.length) bits *= 2;
  const sketch = new Uint8Array(bits / 8);
  for (let at = 0; at < ids.length; at++) {
    const bit = (ids[at] ?? 0) & (bits - 1);
    sketch[bit >>> 3] = (sketch[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }
  return sketch;
}

function isDrawn(sketch: Uint8Array, id: number): boolean {
  const bit = id & (8 * sketch.length - 1);
  return (((sketch[bit >>> 3] ?? 0) >>> (bit & 7)) & 1) === 1;
}
