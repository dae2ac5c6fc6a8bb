import given from "#content/editorial/prose-words.json";
import words from "#content/editorial/name-words.json";
import { readableName } from "./names.ts";

const acronyms = new Set(words.acronyms.filter((word) => !given.notInProse.includes(word)));
const proper = new Map(given.proper.map((word) => [word.toLowerCase(), word]));
const abbreviation =
  /^(?:INC|CO|CORP|LTD|ST|DR|MR|MRS|MS|NO|VS|JR|SR|REV|ETC|ASSN|ASSOC|DEPT|U|S|E|G|I)$/i;
const phrases = new Map(given.phrases.map((phrase) => [phrase.toLowerCase(), phrase]));
const inPhrases = new RegExp(String.raw`\b(?:${given.phrases.join("|")})\b`, "gi");
const webAddress = /\b(?:https?:\/\/|www\.)\S+|\b[\w.-]{1,60}\.(?:com|org|net|edu|gov)\b/gi;
/** Months that are also other words. */
const month = /\b(?:march|may)(?= \d)/g;
const nothing = new RegExp(`^\\(?(?:please )?(?:${given.nothing.join("|")})`, "i");
const common = new Set(given.commonInNames);
/** "St Mary" and "San Juan", but "Elm St in Sample"; the other titles count with their point, because "MR" and "DR" abbreviate more. */
const titled = /(?<![\p{L}\p{N}])(st\.?|san|(?:dr|mrs?|rev)\.) (\p{L}[\p{L}'’]+)/giu;

/**
 * A register's text in readable form: white space collapsed, and capitals in sentence case, with acronyms, well-known names
 * and the words of the organisation's name. "" for text that only refers elsewhere ("See Schedule O", "N/A"). Linear in the
 * length.
 */
export function readableProse(raw: string, organisation = ""): string {
  const text = raw
    .replaceAll(/&amp;|\[:amp:\]/gi, "&")
    // Forms that were filled in online kept the spaces of web pages, some without the "&".
    .replaceAll(/&?\bnbsp;/gi, " ")
    .replaceAll(/&#(x[\da-f]{1,6}|\d{1,7});/gi, (_, code: string) => characterOf(code))
    // Old systems wrote "?" for a curly apostrophe.
    .replaceAll(/(?<=\p{L})\?(?=s\b(?!=))/giu, "'")
    .normalize("NFC")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\uFFFD]/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();
  if (text.length < 3 || nothing.test(text)) return "";
  return isShouted(text) ? sentenceCased(text, organisation) : text;
}

/** The character with this number, "x" before hexadecimal digits; a space for a number beyond Unicode. */
function characterOf(code: string): string {
  const point = Number(code.replace(/^x/i, "0x"));
  return point > 0x10ffff ? " " : String.fromCodePoint(point);
}

const capitalised = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** Cuts a text to at most `max` characters, at the end of a sentence, or else of a word. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const points = Array.from(text);
  if (points.length <= max) return text;
  const part = points.slice(0, max - 1).join("");
  const sentence = Math.max(part.lastIndexOf(". "), part.lastIndexOf("! "), part.lastIndexOf("? "));
  if (sentence > part.length / 2) return part.slice(0, sentence + 1);
  const word = part.lastIndexOf(" ");
  return `${(word > part.length / 2 ? part.slice(0, word) : part).replace(/[\s,;:.-]+$/u, "")}…`;
}

function isShouted(text: string): boolean {
  const upper = text.match(/\p{Lu}/gu)?.length ?? 0;
  const lower = text.match(/\p{Ll}/gu)?.length ?? 0;
  return upper > 3 && upper > lower * 4;
}

function sentenceCased(text: string, organisation: string): string {
  const name = readableName(organisation.toUpperCase());
  const properForms = new Map([...ownWords(name), ...ownAcronyms(text, organisation)]);
  let opening = true;
  let before = "";
  const cased = text.replaceAll(
    /(\p{L}[\p{L}\p{N}'’]*)|([.!?]["”')]*(?=\s|$)|[^\p{L}]+?)/gu,
    (match, word: string | undefined) => {
      if (word === undefined) {
        // The point of an abbreviation does not end a sentence.
        if (/^[.!?]/.test(match) && !abbreviation.test(before)) opening = true;
        return match;
      }
      const casedForm = casedWord(word, properForms, opening);
      opening = false;
      before = word;
      return casedForm;
    },
  );
  const states = cased.replaceAll(/\bu\.s\.(?:a\.)?/gi, (match) => match.toUpperCase());
  const counted = states.replaceAll(/(?<=\d)(?:ST|ND|RD|TH)\b/g, (match) => match.toLowerCase());
  const dated = counted.replaceAll(month, capitalised);
  const linked = dated.replaceAll(webAddress, (match) => match.toLowerCase());
  const named = linked.replaceAll(titled, (match, title: string, next: string) =>
    common.has(next.toLowerCase()) ? match : `${capitalised(title)} ${capitalised(next)}`,
  );
  const placed = named.replaceAll(inPhrases, (match) => phrases.get(match.toLowerCase()) ?? match);
  return withFullName(placed, name);
}

function casedWord(word: string, spellings: ReadonlyMap<string, string>, opening: boolean): string {
  const upper = word.toUpperCase();
  const bare = upper.replace(/['’]?S$/u, "");
  if (acronyms.has(upper)) return upper;
  if (acronyms.has(bare) && /['’]S$/u.test(upper))
    return `${bare}${word.slice(bare.length).toLowerCase()}`;
  const lower = word.toLowerCase();
  const stem = lower.replace(/['’]s$/u, "");
  const properForm = proper.get(stem) ?? spellings.get(stem);
  if (properForm !== undefined) return properForm + lower.slice(stem.length);
  if (lower === "i" && !opening) return "I";
  if (/^(?:i{2,3}|iv|vi{1,3}|ix)$/.test(lower)) return lower;
  return opening ? capitalised(lower) : lower;
}

/** Acronyms that the text explains itself, as "(UWAC)" after the words, and the initials of the organisation's name. */
function ownAcronyms(text: string, organisation: string): Map<string, string> {
  const initials = (phrase: string) =>
    (phrase.match(/\p{L}+/gu) ?? [])
      .map((word) => word[0] ?? "")
      .join("")
      .toUpperCase();
  const explained = [...text.matchAll(/\(["“]?([\p{Lu}\d]{2,8})["”]?\)/gu)]
    .map(({ index, 1: short = "" }) => {
      const before = text.slice(Math.max(0, index - 200), index);
      return { short, among: initials(before.replace(/^.*[()]/u, "")).slice(-12) };
    })
    .filter(({ short, among }) => lettersInOrder(short, among))
    .map(({ short }) => short);
  const short = initials(
    organisation.replaceAll(/\b(?:OF|THE|AND|FOR|IN|INC|INCORPORATED|LTD|LIMITED|CORP)\b/gi, ""),
  );
  const all = short.length >= 3 && short.length <= 6 ? [...explained, short] : explained;
  return new Map(all.map((form) => [form.toLowerCase(), form]));
}

function lettersInOrder(short: string, among: string): boolean {
  let at = -1;
  return Array.from(short).every((letter) => (at = among.indexOf(letter, at + 1)) >= 0);
}

/** Words of the organisation's name that are rarely common words: they keep their capitals. */
function ownWords(name: string): Map<string, string> {
  return new Map(
    (name.match(/\p{Lu}[\p{L}\p{N}]*/gu) ?? [])
      .filter((word) => word.length > 2 && !common.has(word.toLowerCase()))
      .map((word) => [word.toLowerCase(), word]),
  );
}

/** Writes the organisation's full name in the text as in its name. */
function withFullName(text: string, whole: string): string {
  const name = whole.replace(/,? (?:Inc|Incorporated|Ltd|Limited|Corp|Corporation)$/, "");
  if (name.length < 6 || !name.includes(" ")) return text;
  const pattern = new RegExp(
    `\\b${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}\\b`,
    "gi",
  );
  return text.replaceAll(pattern, () => name);
}
