import { fold } from "#content/rules/text.ts";
import type { Asked } from "#content/store/records.ts";
import type { Outline } from "./outline.ts";

const lengthMax = 80;
const numberMax = 10_000;

/**
 * A slug for each outline, in order, that neither the store nor an earlier one has: the name, then with the city, then
 * with a number. The same whatever the size of the batches.
 */
export async function settleSlugs(asked: Asked, outlines: readonly Outline[]): Promise<string[]> {
  const wanted = outlines.map((outline) => slugOf(outline.name));
  const taken = await storedSlugs(asked, [
    ...wanted,
    ...outlines.map(({ city }, at) => `${wanted[at]}-${slugOf(city)}`),
  ]);
  const settled: string[] = [];
  for (const [at, base] of wanted.entries()) {
    const placed = `${base}-${slugOf(outlines[at]?.city ?? "")}`;
    const slug = !taken.has(base)
      ? base
      : !taken.has(placed)
        ? placed
        : await numbered(asked, placed, taken);
    taken.add(slug);
    settled.push(slug);
  }
  return settled;
}

async function numbered(asked: Asked, base: string, taken: ReadonlySet<string>): Promise<string> {
  for (let from = 2; from < numberMax; from += 20) {
    const candidates = Array.from({ length: 20 }, (_, at) => `${base}-${from + at}`);
    const stored = await storedSlugs(asked, candidates);
    const free = candidates.find((slug) => !stored.has(slug) && !taken.has(slug));
    if (free !== undefined) return free;
  }
  throw new Error(`no free slug is left for ${base}`);
}

async function storedSlugs(asked: Asked, slugs: readonly string[]): Promise<Set<string>> {
  const { rows } = await asked.execute({
    sql: "SELECT slug FROM nonprofits WHERE slug IN (SELECT value FROM json_each(?))",
    args: [JSON.stringify(slugs)],
  });
  return new Set(rows.map((row) => String(row["slug"])));
}

const slugOf = (text: string): string =>
  fold(text.replaceAll(/['’]/g, ""))
    .replaceAll("ø", "o")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, lengthMax)
    .replaceAll(/^-+|-+$/g, "");
