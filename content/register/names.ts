import words from "#content/editorial/name-words.json";
import { initialsOf as initialsOfName } from "#content/nonprofit/filters.ts";

const acronyms = new Set(words.acronyms);
const placeAcronyms = new Set(words.placeAcronyms);
const lastOnly = new Set(words.lastOnly);
const small = new Set(words.small);
const smallAfterSpanish = new Set(words.smallAfterSpanish);
const smallWithin = new Set(words.smallWithin);
const macNames = new Set(words.macNames);
const neverAcronyms = new Set(words.notAcronyms);
const firstNames = new Set(words.firstNames);
const fixedForms = new Map(Object.entries(words.fixed));

const roman = /^(?:X{0,3})(?:IX|IV|V?I{0,3})$/;
const ordinal = /^\d+(?:ST|ND|RD|TH|S)$/;
const legalForm = /^(?:INC|INCORPORATED|LLC|LTD|CORP|CORPORATION|FOUNDATION|CHAPTER|CHAPTERS)$/;
/** Pronounceable beginnings of words; a short word with another beginning is an acronym (NCAA; FFA is in the list). */
const onset =
  /^(?:[BCDFGHJKLMNPQRSTVWXZ]|BL|BR|BW|CH|CHR|CHL|CL|CR|CZ|DH|DJ|DR|DW|FL|FR|FJ|GH|GL|GN|GR|GW|HM|KH|KL|KN|KR|KW|LH|LL|MB|MC(?:[A-Z](?=..$))?|MN|ND|NG|NJ|NK|NT|PF|PH|PHL|PHR|PL|PN|PR|PS|PT|RH|RW|SC|SCH|SCR|SH|SHR|SHL|SK|SL|SM|SN|SP|SPH|SPL|SPR|SQ|SR|ST|STR|SV|SW|SZ|TH|THR|THW|TR|TS|TW|TZ|VL|WH|WR|ZH|ZW)?[AEIOUY]/;

/** Pronounceable ends of words of up to four letters; a word with another end is an acronym (ABQ, ACG). */
const coda =
  /[AEIOUY](?:[B-DF-HJ-NP-TV-Z]|BB|BS|CK|CH|CS|CT|DD|DS|DT|FF|FS|FT|GG|GH|GN|GS|HL|HM|HN|HR|KH|KS|LB|LD|LF|LK|LL|LM|LN|LP|LS|LT|LZ|MB|MM|MN|MP|MS|NC|ND|NG|NK|NN|NS|NT|NX|NZ|PP|PS|PT|RB|RC|RD|RF|RG|RK|RL|RM|RN|RP|RR|RS|RT|RV|RZ|SC|SH|SK|SM|SP|SS|ST|TH|TS|TT|TZ|WD|WK|WL|WN|WR|WS|XT|ZZ|GHT|NCH|TCH|RTS|RDS|NDS|NGS|NTH|RTH|LTH|RST|MPH|NKS|LLS|CHS|RLD|CKS|STS|RCH)?E?S?$/;
const smallTown =
  /^(?:DES (?:ALLEMANDS|ARC|LACS|MOINES|PERES|PLAINES)|DU (?:BOIS|PAGE|PONT|QUOIN)|DOS (?:PALOS|RIOS)|DE (?:KALB|PERE|QUEEN|SMET|WITT)|VAN (?:ALSTYNE|BUREN|ETTEN|HORN|LEAR|METER|NUYS|VLECK|WERT|WYCK))$/;
const spanishTown = /^(?:VEGAS|CRUCES|ANGELES|ALAMOS|LUNAS|PASO|PLATA|MARIAS|PIEDRAS|LAJAS)$/;
const spanish = /^(?:DE|DEL|A|E|Y|EN|POR|PARA|CON)$/;

/** What registers write with a capital within a name: "University Of Glasgow", but "Walk In Centre"; "1St". */
const smallInTitle =
  /(?<=\p{Ll}[.)]? )(?:Of|And|For|The|To|(?<!\b(?:Drop|Walk) )In)(?= \p{L})|(?<=\d)(?:St|Nd|Rd|Th)\b/gu;

/**
 * A register's name in readable case. Text with lower-case letters keeps its case except for "of the"; capitals become
 * words, with acronyms, the initials of a chapter's `parent`, Roman numerals, Mc and Mac, O' and "of the" as usual. White
 * space is collapsed.
 */
export const readableName = (raw: string, parent = ""): string => {
  const text = cleanText(raw);
  return /\p{Ll}/u.test(text)
    ? text.replaceAll(smallInTitle, (word) => word.toLowerCase())
    : casedWords(text, false, parent);
};

const cutFrom = 58;

/** Who opens the letters, often a person, stands after some names. */
const careOf = /(?<!\s)\s+(?:C\/O\b|(?<!\d )%|ATTN\b).*$/i;

/**
 * A name of the IRS, which cuts long ones off, with its last word whole: "… ASSOCIATION IN" was "INC". An "@" is a space
 * that some old system spoilt: "THE@COMPASS".
 */
export function wholeName(written: string): string {
  const name = written.replaceAll("@", " ").replace(careOf, "");
  return name.length < cutFrom ? name : withLastWord(name.replace(/ IN(?:CO(?:RP?)?)?$/, " INC"));
}

const chapterCutAt = 35;

/** A chapter's name of the IRS, with its last word whole. */
export const wholeChapter = (written: string): string =>
  written.length < chapterCutAt ? written : withLastWord(written);

/** A name that was cut, with its last word whole if only one can be meant: "… TOASTMASTERS CLU". */
const withLastWord = (name: string): string =>
  name.replace(/(?<=TOASTMASTERS? )CL?$/, "CLUB").replace(/(?<= )(?:CLU|[A-Z]{5,})$/, (last) => {
    const [word, ...others] = words.lastWords.filter((whole) => whole.startsWith(last));
    return word === undefined || others.length > 0 ? last : word;
  });

/**
 * `readableName` for a town: "ST THOMAS" becomes St Thomas, "MC LEAN" McLean, and acronyms of organisations and a state at
 * the end are not recognised.
 */
export const readablePlace = (raw: string): string => {
  const text = cleanText(raw)
    .replace(/(?<![\s,.;])[\s,.;]+$/u, "")
    .replaceAll(/\bMC (?=[A-Z]{3})/g, "MC");
  return /\p{Ll}/u.test(text) ? text : casedWords(text, true);
};

const organisations = new Set(words.organisations);
const ofPeople = /\b(?:TTEES?|TRUSTEES?|TREAS?|CO|PRES|SEC|SOLE|MBR|ATTN|ESQ|INCORPORATOR)\b|[%@/]/;
/** Names of families and benefactors share words with the names of the people who run them. */
const ofFamilies = /\b(?:FAMILY|FAM|TR|TRUST|FOUNDATION|FUND|CHARITABLE|MEMORIAL)\b/;

/**
 * An organisation's other name in the IRS master file, or null if the line may name a person: it must be the name's
 * initials, contain a word for an organisation, or share words with the name. Capitals become readable; initials stay.
 */
export function otherName(line: string, name: string): string | null {
  const text = line.replace(/^(?:DBA|AKA) |^[\d-]+ +(?=\S*[A-Z])/i, "");
  const upperText = text.toUpperCase();
  const parts = wordsIn(upperText);
  const nameWords = wordsIn(name.toUpperCase());
  const letters = parts.join("");
  if (
    ofPeople.test(upperText) ||
    !/[A-Z]{2}/.test(upperText) ||
    nameWords.join("").includes(letters)
  )
    return null;
  const initials = initialsOfName(name).toUpperCase();
  const isShort = parts.length === 1 && letters.length <= initials.length + 2;
  if (isShort && initials.length > 1 && letters.startsWith(initials)) return letters;
  const isOfOrganisation =
    parts.some((part) => organisations.has(part)) ||
    (!ofFamilies.test(name.toUpperCase()) && sharesWords(parts, nameWords));
  return isOfOrganisation ? readableName(text) : null;
}

/** Whether both share two words of four letters or more, or one of three words; initials and first names mean a person. */
function sharesWords(parts: readonly string[], nameWords: readonly string[]): boolean {
  if (parts.some((part) => part.length === 1 || firstNames.has(part))) return false;
  const sharedCount = parts.filter((part) => part.length > 3 && nameWords.includes(part)).length;
  return sharedCount > 1 || (sharedCount === 1 && parts.length > 2);
}

const wordsIn = (text: string): string[] => text.split(/[^A-Z\d]+/).filter((word) => word !== "");

// Registers contain control characters and repeated spaces from old mainframes.
const cleanText = (raw: string): string =>
  raw
    .normalize("NFC")
    // An old code page has Ñ where newer ones have ¥.
    .replaceAll(/(?<=\p{Lu})¥(?=\p{Lu})/gu, "Ñ")
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();

/** What the case of a word depends on besides its letters. */
type Around = {
  before: string;
  after: string;
  first: boolean;
  last: boolean;
  place: boolean;
  /** The word is the first of a compound: "IN-LINE". */
  isJoined: boolean;
  /** The word is within a compound: "STRATFORD-UPON-AVON". */
  isWithin: boolean;
};

/** Spaces, hyphens, slashes and the like. */
const between = /([\s\-–—/&+,;:()[\]"“”|.]+)/u;

function casedWords(text: string, place: boolean, parent = ""): string {
  // The separators are kept.
  const parts = text.split(between);
  const wordsOnly = parts.filter((_, at) => at % 2 === 0);
  const last = lastSpoken(wordsOnly);
  const ownInitials = speltInitials(wordsOnly);
  const ofParent = initialsOf(spoken(parent.split(between).filter((_, at) => at % 2 === 0)));
  const initials = new Set([...ownInitials, ...ofParent]);
  let previous = "";
  return parts
    .map((part, at) => {
      if (at % 2 === 1 || part === "") return part;
      const word = part.toUpperCase();
      const before = previous;
      // The words that initials stand for begin a name: "IHS The Institute for Human Services".
      previous = ownInitials.includes(word) ? "" : word;
      if (initials.has(word)) return word;
      const index = at / 2;
      const opening = index === 0 || before === "" || /[(["“:]\s*$/u.test(parts[at - 1] ?? "");
      return casedWord(word, {
        before,
        after: (wordsOnly[index + 1] ?? "").toUpperCase(),
        first: opening,
        last: index >= last,
        place,
        isJoined: parts[at + 1] === "-" && parts[at - 1] !== "-",
        isWithin: parts[at + 1] === "-" && parts[at - 1] === "-",
      });
    })
    .join("");
}

/** The first or last word if it spells the initials of all others: "Prison Advice and Care Trust (PACT)". */
function speltInitials(wordsOnly: readonly string[]): string[] {
  const all = spoken(wordsOnly);
  const ends = [
    { word: all[0], others: all.slice(1) },
    { word: all.at(-1), others: all.slice(0, -1) },
  ];
  return ends.flatMap(({ word, others }) =>
    word !== undefined && initialsOf(others).includes(word) ? word : [],
  );
}

/** The words in capitals, without "Inc" and the like. */
const spoken = (wordsOnly: readonly string[]): string[] =>
  wordsOnly
    .map((word) => word.toUpperCase())
    .filter((word) => word !== "" && !legalForm.test(word));

/** The initials of three words or more, with and without the small words. */
const initialsOf = (some: readonly string[]): string[] =>
  [some, some.filter((word) => !small.has(word.toLowerCase()))]
    .filter((counted) => counted.length > 2)
    .map((counted) => counted.map((word) => word[0]).join(""));

/** The index of the last word except "Inc" and the like: a state there is written as a code. */
function lastSpoken(wordsOnly: readonly string[]): number {
  let at = wordsOnly.length - 1;
  while (at > 0 && (wordsOnly[at] === "" || legalForm.test((wordsOnly[at] ?? "").toUpperCase())))
    at--;
  return at;
}

function casedWord(word: string, around: Around): string {
  if (!around.first && isSmall(word, around)) return word.toLowerCase();
  const form = knownForm(word, around);
  if (form !== null) return form;
  if (word.includes("'") || word.includes("’")) return withApostrophe(word, around);
  if (/^\d/.test(word)) return ordinal.test(word) ? word.toLowerCase() : word;
  if (word.length === 1 || isRoman(word, around)) return word;
  if (isAcronym(word)) return word;
  return capitalised(word);
}

function isSmall(word: string, { before, after, last, isJoined, isWithin }: Around): boolean {
  if (isJoined || smallTown.test(`${word} ${after}`)) return false;
  const lower = word.toLowerCase();
  if (isWithin && smallWithin.has(lower)) return true;
  if (smallAfterSpanish.has(lower)) return spanish.test(before) && !spanishTown.test(after);
  if (!small.has(lower) || (last && after === "" && lower !== "the")) return false;
  // "C A R E" is spelt out, "Vitamin A" ends with a letter, and "Y" joins Spanish words unless it is next to a letter.
  return lower.length > 1 || isArticle(before, after);
}

/** "John A Smith" has an initial, "Adopt a Dog" an article. */
const isArticle = (before: string, after: string): boolean =>
  before.length > 1 && after.length > 1 && !firstNames.has(before);

/** Words after which "US" means us and not the country. */
const beforeUs = /^(?:FOR|WITH|LET|TO|HELP|JOIN|OF|ALL|LIKE|AMONG|ABOUT|BETWEEN|FIND|SEE|HEAR|IN)$/;

function knownForm(word: string, { before, last, place }: Around): string | null {
  if (word === "US" && beforeUs.test(before)) return "Us";
  const endsName = last && before !== "" && !place;
  if (endsName && word === "MT") return "MT";
  if (endsName && lastOnly.has(word))
    return words.neverStates.includes(word) ? capitalised(word) : word;
  return fixedForms.get(word) ?? (isListed(word, place) ? word : null);
}

const isListed = (word: string, place: boolean): boolean =>
  (place ? placeAcronyms : acronyms).has(word);

/** At the beginning only numerals that are no other word: "Xi" is a name, "VI" the Virgin Islands. */
const isRoman = (word: string, { first }: Around): boolean =>
  word.length > 1 && word !== "MIX" && roman.test(word) && (!first || /^VI$|II$/.test(word));

function isAcronym(word: string): boolean {
  if (word.length > 5 || neverAcronyms.has(word) || !/^[A-Z]+$/.test(word)) return false;
  // "McGee" has three letters after "Mc".
  if (/^MC[A-Z]{1,2}$/.test(word)) return true;
  return !/[AEIOUY]/.test(word) || !onset.test(word) || (word.length <= 4 && !coda.test(word));
}

/** O'Brien, Children's, Hawai'i, D'Arcy: a name follows only a single letter before the apostrophe. */
function withApostrophe(word: string, around: Around): string {
  const [before = "", mark = "'", after = ""] = word.split(/(['’])/u, 3);
  const tail = word.slice(before.length + mark.length);
  if (/^[ODLM]$/.test(before) && after.length > 1) return before + mark + capitalised(tail);
  if (before === "") return mark + (tail.length < 3 ? tail.toLowerCase() : capitalised(tail));
  const head = casedWord(before, { ...around, first: true, last: false });
  return head + mark + tail.toLowerCase();
}

function capitalised(word: string): string {
  if (/^MC[A-Z]{3,}$/.test(word)) return `Mc${word.slice(2, 3)}${word.slice(3).toLowerCase()}`;
  if (word.startsWith("MAC") && macNames.has(word.slice(3).replace(/S$/, ""))) {
    return `Mac${word.slice(3, 4)}${word.slice(4).toLowerCase()}`;
  }
  return word.slice(0, 1) + word.slice(1).toLowerCase();
}
