/** Names that are no slug, because the bundle keeps files of its own under them. */
const reserved = new Set(["index", "pages"]);
const slugLengthMax = 80;

const letters: readonly (readonly [RegExp, string])[] = [
  [/ß/gu, "ss"],
  [/æ/gu, "ae"],
  [/œ/gu, "oe"],
  [/ø/gu, "o"],
  [/đ|ð/gu, "d"],
  [/ł/gu, "l"],
  [/þ/gu, "th"],
  [/ı/gu, "i"],
  [/['’ʻ`´.]/gu, ""],
  [/&|\+/gu, " and "],
  [/@/gu, " at "],
];

/** A text as a part of an address: a-z, 0-9 and single hyphens, at most 80 characters; "" when nothing is left. */
export function slugOf(text: string): string {
  let plain = text.toLowerCase();
  for (const [from, to] of letters) plain = plain.replaceAll(from, to);
  const slug = plain
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  if (slug.length <= slugLengthMax) return slug;
  const cut = slug.slice(0, slugLengthMax + 1);
  return cut.slice(0, Math.max(cut.lastIndexOf("-"), 40)).replace(/-$/, "");
}

/**
 * The slugs that a new nonprofit may take, the best first: its name; its name and town; its name, town and region.
 * `fallback` stands for a name without a letter of the Latin alphabet.
 */
export function slugCandidates(
  name: string,
  place: { city: string | null; region: string | null },
  fallback: string,
): [string, ...string[]] {
  const base = slugOf(name) || slugOf(fallback) || "nonprofit";
  const longer = [place.city, place.region].flatMap((part) => slugOf(part ?? "") || []);
  const found = [base];
  for (const part of longer) {
    const before = found.at(-1) ?? base;
    if (!before.endsWith(part)) found.push(`${before}-${part}`);
  }
  const [first = base, ...others] = found.filter((slug) => !reserved.has(slug));
  return reserved.has(base) && first === base ? [`${base}-nonprofit`] : [first, ...others];
}

/** Another slug when all candidates are taken: the last of them with a number from 2 up. */
export const numberedSlug = (slug: string, number: number): string => `${slug}-${number}`;
