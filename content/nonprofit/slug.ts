import anyAscii from "any-ascii";

/** Names that are no slug, because the bundle keeps files of its own under them. */
const reserved = new Set(["index", "pages"]);
const slugLengthMax = 80;

/** Signs of the scripts of India that share one layout, Devanagari to Malayalam, by their places in it. */
const brahmic = (from: number, to: number): string => {
  const blocks = [0x900, 0x980, 0xa00, 0xa80, 0xb00, 0xb80, 0xc00, 0xc80, 0xd00];
  const code = (at: number) => String.raw`\u{${at.toString(16)}}`;
  return `[${blocks.map((block) => `${code(block + from)}-${code(block + to)}`).join("")}]`;
};

/** What the library, which reads sign by sign, would lose. */
const spellings: readonly (readonly [RegExp, string])[] = [
  // The vowel of a consonant without another one, within a word: "जल" is "jal", not "jl".
  [
    new RegExp(
      String.raw`(${brahmic(0x15, 0x39)}${brahmic(0x3c, 0x3c)}?)(?!${brahmic(0x3c, 0x4d)})(?=[\p{L}\p{M}])`,
      "gu",
    ),
    "$1a",
  ],
  // Alef and taa marbuta, the vowels that Arabic and Hebrew do write.
  [/[اأإآٱةא]/gu, "a"],
  // Thai and Lao vowels that are written before the consonant that they are read after.
  [/([เ-ไ])([ก-ฮ])|([ເ-ໄ])([ກ-ຮ])/gu, "$2$1$4$3"],
  // No space divides words: each sign is read by itself.
  [/\p{Script=Han}/gu, " $& "],
];

const signs: readonly (readonly [RegExp, string])[] = [
  [/['’ʻ`´.]/gu, ""],
  [/&|\+/gu, " and "],
  [/@/gu, " at "],
];

const replaced = (text: string, table: typeof signs): string =>
  table.reduce((done, [from, to]) => done.replaceAll(from, to), text);

function inLatin(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text;
  // Joiners shape letters of Indian and Persian script; they part no words.
  const joined = text.normalize("NFC").replaceAll(/[\u200c\u200d]/g, "");
  const spelled = replaced(joined, spellings);
  // Letters and digits alone: its word for a sign ("®") would be taken for a part of the name.
  return spelled.replaceAll(/[\p{L}\p{M}\p{N}]+/gu, (word) => anyAscii(word));
}

/**
 * A text as a part of an address: a-z, 0-9 and single hyphens, at most 80 characters; "" when nothing is left. Letters of
 * every script are spelled in Latin ones. Source: any-ascii; docs/decisions/18.
 */
export function slugOf(text: string): string {
  const slug = replaced(inLatin(text).toLowerCase(), signs)
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  if (slug.length <= slugLengthMax) return slug;
  const cut = slug.slice(0, slugLengthMax + 1);
  return cut.slice(0, Math.max(cut.lastIndexOf("-"), 40)).replace(/-$/, "");
}

/**
 * The slugs that a new nonprofit may take, the best first: its name; its name and town; its name, town and region.
 * `fallback` stands for a name without a letter or digit.
 */
export function slugCandidates(
  name: string,
  place: { city: string | null; region: string | null },
  fallback: string,
): [string, ...string[]] {
  const base = slugOf(name) || slugOf(fallback) || "nonprofit";
  const longer = [place.city, place.region].flatMap((part) => slugOf(part ?? "") || []);
  const candidates = [base];
  for (const part of longer) {
    const before = candidates.at(-1) ?? base;
    if (!before.endsWith(part)) candidates.push(`${before}-${part}`);
  }
  const [first = base, ...others] = candidates.filter((slug) => !reserved.has(slug));
  return reserved.has(base) && first === base ? [`${base}-nonprofit`] : [first, ...others];
}

/** Another slug when all candidates are taken: the last of them with a number from 2 up. */
export const numberedSlug = (slug: string, number: number): string => `${slug}-${number}`;

/** People paste the address of a profile where its slug is asked for. */
export const slugIn = (text: string): string => /\/nonprofits\/([^/?#\s]+)/.exec(text)?.[1] ?? text;
