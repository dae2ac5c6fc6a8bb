import type { Random } from "#scripts/seed/numbers.ts";
import abbreviations from "./abbreviations.json";

/** What becomes of a name on its way into a spreadsheet. Null: this name cannot be damaged so. */
type Damage = (name: string, random: Random) => string | null;

const legalEnd = /[\s,]+(?:inc|incorporated|ltd|limited|llc|corp|corporation|co)\.?$/i;

const replaced = (name: string, word: string, other: string): string | null => {
  const found = new RegExp(String.raw`(?<![\p{L}'])${word}(?![\p{L}'])`, "iu");
  return found.test(name) ? name.replace(found, other) : null;
};

/** One slip of the hand: a letter that is missing, doubled, wrong, or swapped with the next. */
export function mistaken(random: Random, word: string): string {
  const at = random.between(0, word.length - 2);
  const [before, letter, next, after] = [
    word.slice(0, at),
    word[at] ?? "",
    word[at + 1] ?? "",
    word.slice(at + 2),
  ];
  return random.pick([
    `${before}${next}${after}`,
    `${before}${letter}${letter}${next}${after}`,
    `${before}${random.pick("abcdefghijklmnopqrstuvwxyz".split(""))}${next}${after}`,
    `${before}${next}${letter}${after}`,
  ]);
}

const damages: Readonly<Record<string, Damage>> = {
  "legal form": (name, { pick }) =>
    legalEnd.test(name)
      ? name.replace(legalEnd, "")
      : name + pick([" Inc", ", Inc.", " Ltd", " LLC", " Incorporated", " Corp"]),
  typo: (name, random) => {
    const words = name.split(" ");
    const long = words.flatMap((word, at) => (/^[A-Za-z]{5,}$/.test(word) ? at : []));
    if (long.length === 0) return null;
    const at = random.pick(long);
    return words.with(at, mistaken(random, words[at] ?? "")).join(" ");
  },
  "word order": (name, { pick, below }) => {
    const words = name.split(" ");
    if (words.length < 2) return null;
    const at = 1 + below(words.length - 1);
    const swapped = words.with(at, words[at - 1] ?? "").with(at - 1, words[at] ?? "");
    return pick([`${words.slice(1).join(" ")}, ${words[0]}`, swapped.join(" ")]);
  },
  abbreviation: (name, { pick }) => {
    const made = Object.entries(abbreviations).flatMap(
      ([whole, short]) =>
        replaced(name, whole, pick(short)) ?? replaced(name, short[0] ?? "", whole) ?? [],
    );
    return made.length === 0 ? null : pick(made);
  },
  ampersand: (name) =>
    replaced(name, "and", "&") ?? (name.includes("&") ? name.replace("&", "and") : null),
  case: (name, { pick }) => pick([name.toUpperCase(), name.toLowerCase()]),
  punctuation: (name, { pick }) => {
    const bare = name.replaceAll(/['’.,-]/g, "");
    const spaced = name.replaceAll("-", " ");
    const made = [bare, spaced, name.replace(" ", "  "), `${name}.`].filter((one) => one !== name);
    return pick(made);
  },
};

/** A name damaged in one to three of these ways. */
export function damaged(name: string, random: Random): string {
  let text = name;
  for (const damage of random.some(Object.values(damages), 1 + random.below(3)))
    text = damage(text, random) ?? text;
  return text === name ? `${name.toLowerCase()}.` : text;
}
