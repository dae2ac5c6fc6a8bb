import { numberedSlug, slugCandidates } from "#content/rules/slug.ts";
import { idsBySlug } from "#content/store/imports.ts";
import type { Asked } from "#content/store/records.ts";

/** A nonprofit that needs a slug. */
export type Unnamed = {
  slug_name: string;
  org_id: string;
  city: string | null;
  region: string | null;
};

const numbersTried = 64;
const roundsMax = 1_000;

/**
 * A free slug for each new nonprofit, in order: the name's, with the town, with the region, or with a number from 2 up.
 * Slugs of withdrawn nonprofits are never free. Asked inside the transaction that takes them.
 */
export async function newSlugs(asked: Asked, unnamed: readonly Unnamed[]): Promise<string[]> {
  const candidates = unnamed.map((one) => slugCandidates(one.slug_name, one, one.org_id));
  const taken = new Set((await idsBySlug(asked, candidates.flat())).keys());
  const slugs: string[] = [];
  for (const own of candidates) {
    const slug = own.find((one) => !taken.has(one)) ?? (await numbered(asked, own, taken));
    taken.add(slug);
    slugs.push(slug);
  }
  return slugs;
}

/** The least number that no other has. Members of a group come by the hundred, so numbers are asked for by the dozen. */
async function numbered(asked: Asked, own: readonly string[], taken: Set<string>): Promise<string> {
  const base = own.at(-1) ?? "nonprofit";
  for (let round = 0; round < roundsMax; round++) {
    const from = 2 + round * numbersTried;
    const tried = Array.from({ length: numbersTried }, (_, at) => numberedSlug(base, from + at));
    const known = await idsBySlug(asked, tried);
    const free = tried.find((slug) => !known.has(slug) && !taken.has(slug));
    if (free !== undefined) return free;
  }
  throw new Error(`no number is free for the slug ${base}`);
}
