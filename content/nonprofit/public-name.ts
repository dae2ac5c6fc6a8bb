import { createHash } from "node:crypto";
import words from "#content/editorial/agent-name-words.json";
import { linkLike, plainLetters } from "./text.ts";

/** How an agent calls itself: in public it is the word of a stranger. */
type Named = { agent_id: string; agent_name: string };

/**
 * The name under which an agent is public: the one that it gave when that can do no harm, else its id when that cannot, else
 * a neutral one made of the id. Source: the decisions of the spec, "agent_name".
 */
export function publicName({ agent_id, agent_name }: Named): string {
  const name = cleaned(agent_name);
  return isHarmlessName(name) ? name : shownName(agent_id);
}

/** A name that was stored without its id, or an id, as it may be public. Shown twice it stays the same. */
export function shownName(stored: string): string {
  const name = cleaned(stored);
  if (isHarmlessName(name) || isHarmlessId(name)) return name;
  return `agent-${createHash("sha256").update(stored).digest("hex").slice(0, neutralDigits)}`;
}

const neutralDigits = 8;

const cleaned = (text: string): string => text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();

/** Letters, digits, spaces and `. _ - /`, at most 40; no letter carries more than two marks. */
const narrow = /^(?=.*[\p{L}\p{N}])(?!.*\p{M}{3})[\p{L}\p{M}\p{N} ._/-]{1,40}$/u;

const wordsMax = 3;
const digitsMax = 6;

/**
 * Whether a name says no more than who someone is: too short for a sentence, an account, a telephone number or an address,
 * and of harmless words.
 */
export function isHarmlessName(name: string): boolean {
  const digits = name.match(/\p{N}/gu)?.length ?? 0;
  const isShort = name.split(" ").length <= wordsMax && digits <= digitsMax;
  return isShort && !/\S{20}/u.test(name) && hasHarmlessWords(name);
}

/** Whether an id may stand for the agent: they may be long and hold many digits, but are no sentences. */
const isHarmlessId = (id: string): boolean => !id.includes(" ") && hasHarmlessWords(id);

/**
 * Whether a text is of a narrow alphabet, without links or wallets, words of money, of orders to the reader or of the
 * directory's own voice. Letters in disguise are read as what they look like.
 */
function hasHarmlessWords(name: string): boolean {
  if (!narrow.test(name) || linkLike.test(name)) return false;
  const plain = plainLetters(name)
    .text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")
    .toLowerCase();
  const squeezed = plain
    .replaceAll(/\d/g, (digit) => letterLike[digit] ?? digit)
    .replaceAll(/[^\p{L}]/gu, "");
  return !asWord.test(plain) && !anywhere.test(squeezed);
}

/** Digits that stand for letters. */
const letterLike: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
};

/** What is found inside of other words, too, and however it is spaced. */
const anywhere = new RegExp(words.anywhere.join("|"), "u");
const asWord = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${words.words.map((word) => word.replaceAll(" ", String.raw`[ ._/-]+`)).join("|")})(?![\\p{L}\\p{N}])`,
  "u",
);
