import { numberedSlug, slugCandidates } from "#content/nonprofit/slug.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Outline } from "./outline.ts";

const numberMax = 100_000;
const numbersAtOnce = 50;

/**
 * A slug for each outline, in order, that neither the store nor an earlier one has: the name, then with its town and
 * region, then with a number. The same whatever the size of the batches.
 */
export async function settleSlugs(
  store: Queryable,
  outlines: readonly Outline[],
): Promise<string[]> {
  const wanted = outlines.map((outline) => slugCandidates(outline.name, outline, "sample"));
  const taken = await storedSlugs(store, wanted.flat());
  const settled: string[] = [];
  for (const candidates of wanted) {
    const slug =
      candidates.find((candidate) => !taken.has(candidate)) ??
      (await numbered(store, candidates.at(-1) ?? candidates[0], taken));
    taken.add(slug);
    settled.push(slug);
  }
  return settled;
}

async function numbered(
  store: Queryable,
  slug: string,
  taken: ReadonlySet<string>,
): Promise<string> {
  for (let from = 2; from < numberMax; from += numbersAtOnce) {
    const candidates = Array.from({ length: numbersAtOnce }, (_, at) =>
      numberedSlug(slug, from + at),
    );
    const stored = await storedSlugs(store, candidates);
    const free = candidates.find((one) => !stored.has(one) && !taken.has(one));
    if (free !== undefined) return free;
  }
  throw new Error(`no free slug is left for ${slug}`);
}

async function storedSlugs(store: Queryable, slugs: readonly string[]): Promise<Set<string>> {
  const { rows } = await store.raw.execute({
    sql: "SELECT slug FROM nonprofits WHERE slug IN (SELECT value FROM json_each(?))",
    args: [JSON.stringify(slugs)],
  });
  return new Set(rows.map((row) => String(row["slug"])));
}
