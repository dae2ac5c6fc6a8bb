import { sha256Of } from "#content/runtime/digest.ts";
import words from "#content/editorial/agent-name-words.json";
import { characterCount, linkLike, plainLetters } from "./text.ts";
import { isLinkShortener, isPublicHost, isSharedHost, siteHost, withLetters } from "./website.ts";

/** An agent's own id and name. In public they are the words of a stranger. */
type AgentName = { agent_id: string; agent_name: string };

/**
 * An agent's public name: its own name if that is harmless, else its id if that is harmless, else a neutral name made from
 * the id. Names in non-Latin letters are not used, because no one has reviewed them.
 */
export function publicName({ agent_id, agent_name }: AgentName): string {
  const name = cleaned(agent_name);
  return isLatin(name) && isHarmlessName(name) ? name : publicId(agent_id);
}

export const publicId = (agent_id: string): string =>
  isLatin(agent_id) ? shownName(agent_id) : neutralName(agent_id);

/** The public form of a name stored without its id, which an operator may have approved. Idempotent. */
export function shownName(stored: string): string {
  const name = cleaned(stored);
  return isHarmlessName(name) || isHarmlessId(name) ? name : neutralName(stored);
}

const neutralDigits = 8;

const neutralName = (stored: string): string => `agent-${sha256Of(stored).slice(0, neutralDigits)}`;

const cleaned = (text: string): string => text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();

const otherLetter = /(?!\p{Script=Latin})\p{L}/u;
const isLatin = (text: string): boolean => !otherLetter.test(text);
const otherLetters = (text: string): string[] => text.match(/(?!\p{Script=Latin})\p{L}/gu) ?? [];

/** Letters, digits, spaces and `. _ - /`, at most 40; no letter carries more than two marks. */
const narrow = /^(?=.*[\p{L}\p{N}])(?!.*\p{M}{3})[\p{L}\p{M}\p{N} ._/-]{1,40}$/u;

const wordsMax = 3;
const idWordsMax = 4;
const digitsMax = 6;

/**
 * Whether a name only names someone: too short for a sentence, an account, a telephone number or an address, and without
 * suspicious words in the languages of our lists.
 */
export function isHarmlessName(name: string): boolean {
  const isShort = wordCount(name) <= wordsMax && digitCount(name) <= digitsMax;
  return isShort && !/\S{20}/u.test(name) && hasHarmlessWords(name);
}

/** Whether an id may be shown as the name: it may be long and hold many digits, but must not be a sentence. */
const isHarmlessId = (id: string): boolean =>
  !id.includes(" ") && wordCount(id.replace(uuid, "")) <= idWordsMax && hasHarmlessWords(id);

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/iu;

const digitCount = (text: string): number => text.match(/\p{N}/gu)?.length ?? 0;

/** Counts the parts with at least two letters, however they are separated. */
const wordCount = (text: string): number =>
  text.split(/[^\p{L}\p{N}\p{M}]+/u).filter((part) => /\p{L}.*\p{L}/u.test(part)).length;

const hasHarmlessWords = (name: string): boolean =>
  narrow.test(name) && !linkLike.test(name) && !isTelling(name) && !isTelling(camelParted(name));

const camelParted = (text: string): string => text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ");

const place = { charactersMax: 60, wordsMax: 6, casedMax: 24, caselessMax: 12, otherWordsMax: 2 };

/**
 * Whether a text can be a city or region: short, without links, accounts, and words of money, orders or rank, except in
 * place names that contain them ("Red Bank"). In letters that our lists hardly cover it must be shorter still.
 */
export function isHarmlessPlace(name: string): boolean {
  const count = name.split(" ").length;
  const isShort = characterCount(name) <= place.charactersMax && count <= place.wordsMax;
  if (!isShort || digitCount(name) > digitsMax || linkLike.test(name)) return false;
  const others = otherLetters(name);
  const caseless = others.filter((letter) => /\p{Lo}/u.test(letter)).length;
  const isReadable =
    others.length === 0 ||
    (count <= place.otherWordsMax &&
      others.length <= place.casedMax &&
      caseless <= place.caselessMax);
  const rest = plainLetters(name).text.toLowerCase().replaceAll(inPlaces, " ");
  return isReadable && !isTelling(rest, asWordToReader);
}

const intentWordsMax = 10;

/**
 * Whether a donor intent only names a topic: no sentence, and words of money or orders only in phrases like "food banks". A
 * topic does not point at its reader or at this profile ("you", "this"), nor say what the directory does ("rank", "top").
 */
export const isHarmlessIntent = (intent: string): boolean =>
  wordCount(intent) <= intentWordsMax &&
  !isTelling(plainLetters(intent).text.toLowerCase().replaceAll(inTopics, " "), asWordToReader);

/**
 * The public form of a value's source. Its sender wrote the whole address, so it is shown in full only if it does not read
 * like a message and its host is confirmed by another agreeing source or the profile's website. Otherwise only its origin is
 * shown, or null if the host reads like a message too or is in the reader's own network. On a shared host anyone can have a
 * page.
 */
export function shownSource(
  source_url: string | null,
  sources: readonly (string | null)[],
  website: string | null,
): string | null {
  const url = source_url === null ? null : URL.parse(source_url);
  if (url === null || !isPublicHost(url.hostname)) return null;
  const host = siteHost(url.href);
  const isOwn = siteHost(website) === host;
  if (!isOwn && !isHarmlessLink(host)) return null;
  const isNamedTwice = sources.filter((source) => siteHost(source) === host).length > 1;
  const isKnown = !isSharedHost(host) && !isLinkShortener(url.href) && (isNamedTwice || isOwn);
  const page = `${url.pathname}${url.search}${url.hash}`;
  return isKnown && isHarmlessLink(withLetters(page))
    ? withoutAddress(source_url)
    : `${url.origin}/`;
}

/** A link; only its origin if its page holds an e-mail address, because a contact's address is never public. */
export const withoutAddress = (link: string | null): string | null =>
  link !== null && addressInUrl.test(link) ? (URL.parse("/", link)?.href ?? null) : link;

/**
 * An @ between a name and a host, also percent-encoded (even repeatedly) or in full width; a host has a dot or encoded
 * letters. "/@team" is no address.
 */
const addressInUrl = /[^/](?:[@\uFF20]|%(?:25)*40|%EF%BC%A0)[^/?#&]*[.%]/i;

const websiteMax = { characters: 250, words: 12, otherLetters: 24 };

/** Whether a website is too short for a message, and its page names no wallet. */
export function isHarmlessWebsite(text: string): boolean {
  const address = withLetters(text.replace(/^https?:\/\//i, ""));
  return (
    characterCount(address) <= websiteMax.characters &&
    wordCount(address) <= websiteMax.words &&
    otherLetters(address).length <= websiteMax.otherLetters &&
    !/[/?#].*[1-9A-HJ-NP-Za-km-z]{32}/.test(address)
  );
}

/** Whether a host or path does not read like a message: no listed words, few words per part, and no wallet. */
const isHarmlessLink = (address: string): boolean =>
  isLatin(address) &&
  !/[\p{L}\p{N}]{32}/u.test(address) &&
  address.split(/[./?&=]+/u).every((part) => wordCount(part) <= idWordsMax) &&
  !isTelling(address.replaceAll(/[^\p{L}\p{N}]+/gu, " "));

/**
 * Whether a text holds words of money, orders to the reader, or words in the directory's own voice. Disguised letters and
 * digits are read as what they look like; single letters ("P.A.Y.") are joined.
 */
function isTelling(text: string, listed: RegExp = asWord): boolean {
  const plain = look(text);
  const joined = plain.replaceAll(
    /(?<![\p{L}\p{N}])(\p{L})[ ._/-]+(?=\p{L}(?![\p{L}\p{N}]))/gu,
    "$1",
  );
  const squeezed = plain.replaceAll(/\d/g, lettered).replaceAll(/[^\p{L}]/gu, "");
  return listed.test(plain) || listed.test(joined) || anywhere.test(squeezed);
}

/** Digits that look like letters. */
const letterLike: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
};
const lettered = (digit: string): string => letterLike[digit] ?? digit;

/** What a text looks like at a glance: small plain letters, digits next to letters as letters, l as i. Idempotent. */
const look = (text: string): string =>
  plainLetters(text)
    .text.toLowerCase()
    .replaceAll(/(?<=\p{L}\d*)\d|\d(?=\d*\p{L})/gu, lettered)
    .replaceAll("l", "i")
    .replaceAll("vv", "w");

const oneOf = (some: readonly string[]): string =>
  some.map((word) => word.replaceAll(" ", String.raw`[ ._/-]+`)).join("|");
const wholeWords = (pattern: string, flags: string): RegExp =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${pattern})(?![\p{L}\p{N}])`, flags);

/** Words that are also found inside other words, however they are spaced. */
const anywhere = new RegExp(oneOf(words.anywhere.map(look)), "u");
const listedWords = `(?:${oneOf(words.inflected.map(look))})(?:s|es|ed|d|ing)?|${oneOf(words.words.map(look))}`;
const asWord = wholeWords(listedWords, "u");
const asWordToReader = wholeWords(`${listedWords}|${oneOf(words.toReader.map(look))}`, "u");
/** Matched as written: "Cali" is not "call". "^Only$" is a town, "only" in other names is not. */
const inPlaces = wholeWords(oneOf(words.places), "gu");
/** A topic may hold the forms of a word: "food banks?". */
const inTopics = wholeWords(oneOf(words.topics), "gu");
