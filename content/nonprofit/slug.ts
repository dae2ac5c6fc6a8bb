import anyAscii from "any-ascii";

/** Reserved slugs: the bundle has files of its own with these names. */
const reserved = new Set(["index", "pages"]);
const slugLengthMax = 80;

/** Characters of the Indian scripts with a common layout, Devanagari to Malayalam, by their offsets in it. */
const brahmic = (from: number, to: number): string => {
  const blocks = [0x900, 0x980, 0xa00, 0xa80, 0xb00, 0xb80, 0xc00, 0xc80, 0xd00];
  const code = (at: number) => String.raw`\u{${at.toString(16)}}`;
  return `[${blocks.map((block) => `${code(block + from)}-${code(block + to)}`).join("")}]`;
};

/** Spellings that the library, which reads character by character, would lose. */
const spellings: readonly (readonly [RegExp, string])[] = [
  // The inherent vowel of a consonant within a word: "जल" is "jal", not "jl".
  [
    new RegExp(
      String.raw`(${brahmic(0x15, 0x39)}${brahmic(0x3c, 0x3c)}?)(?!${brahmic(0x3c, 0x4d)})(?=[\p{L}\p{M}])`,
      "gu",
    ),
    "$1a",
  ],
  // Alef and taa marbuta: vowels that Arabic and Hebrew write.
  [/[اأإآٱةא]/gu, "a"],
  // Thai and Lao vowels that are written before the consonant after which they are read.
  [/([เ-ไ])([ก-ฮ])|([ເ-ໄ])([ກ-ຮ])/gu, "$2$1$4$3"],
  // Chinese has no spaces between words: treat each character as a word.
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
  // Joiners only shape letters of Indian and Persian scripts; they do not separate words.
  const joined = text.normalize("NFC").replaceAll(/[\u200c\u200d]/g, "");
  const spelled = replaced(joined, spellings);
  // Transliterate letters and digits only: the library's word for a sign ("®") would look like part of the name.
  return spelled.replaceAll(/[\p{L}\p{M}\p{N}]+/gu, (word) => anyAscii(word));
}

/**
 * A text as part of an address: a-z, 0-9 and single hyphens, at most 80 characters; "" when nothing is left. Other scripts
 * are transliterated to Latin letters (any-ascii; docs/decisions/18-slugs.md).
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
 * Possible slugs for a new nonprofit, best first: name; name and town; name, town and region. `fallback` is used for a name
 * without letters or digits.
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

/** A slug for when all candidates are taken: the last one with a number from 2 up. */
export const numberedSlug = (slug: string, number: number): string => `${slug}-${number}`;

/** People paste the address of a profile where a slug is expected. */
export const slugIn = (text: string): string => /\/nonprofits\/([^/?#\s]+)/.exec(text)?.[1] ?? text;
