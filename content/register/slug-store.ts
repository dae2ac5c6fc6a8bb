import { numberedSlug, slugCandidates } from "#content/nonprofit/slug.ts";
import { idsBySlug } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";

/** A nonprofit that needs a slug. `org_id` stands for a name without a letter or digit. */
export type SlugRequest = {
  slug_name: string;
  org_id: string;
  city: string | null;
  region: string | null;
};

export type SlugGiver = (store: Queryable, unnamed: readonly SlugRequest[]) => Promise<string[]>;

const numbersTried = 64;
const roundsMax = 10_000;

/**
 * Gives a free slug to each new nonprofit, in order: the name's, with the town, with the region, or with a number from 2
 * up. Slugs of withdrawn nonprofits are never free. Queryable inside the transaction that takes them.
 */
export function giveSlugs(): SlugGiver {
  // Members of a group come by the hundred: a number that was taken once is not tried again.
  const nextNumbers = new Map<string, number>();
  return async (store, unnamed) => {
    const candidates = unnamed.map((request) =>
      slugCandidates(request.slug_name, request, request.org_id),
    );
    const taken = new Set((await idsBySlug(store, candidates.flat())).keys());
    const slugs: string[] = [];
    for (const slugsOfName of candidates) {
      const base = slugsOfName.at(-1) ?? slugsOfName[0];
      const slug =
        slugsOfName.find((candidate) => !taken.has(candidate)) ??
        (await numbered(store, base, taken, nextNumbers));
      taken.add(slug);
      slugs.push(slug);
    }
    return slugs;
  };
}

async function numbered(
  store: Queryable,
  base: string,
  taken: ReadonlySet<string>,
  nextNumbers: Map<string, number>,
): Promise<string> {
  for (let round = 0; round < roundsMax; round++) {
    const from = nextNumbers.get(base) ?? 2;
    const numbers = Array.from({ length: numbersTried }, (_, at) => from + at);
    const idBySlug = await idsBySlug(
      store,
      numbers.map((number) => numberedSlug(base, number)),
    );
    const free = numbers.find((number) => {
      const slug = numberedSlug(base, number);
      return !idBySlug.has(slug) && !taken.has(slug);
    });
    nextNumbers.set(base, (free ?? from + numbersTried - 1) + 1);
    if (free !== undefined) return numberedSlug(base, free);
  }
  throw new Error(`no number is free for the slug ${base}`);
}
