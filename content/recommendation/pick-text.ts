import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { intentLengthMax, intentsMax, reasonLengthMax } from "#content/contract/recommendation.ts";
import {
  characterCount,
  linkLike,
  unsafeCharacter,
  plainLetters,
} from "#content/nonprofit/text.ts";
import wording from "#content/editorial/wording.json";

/** The words of a recommendation. */
export type PickText = { recommended_for: string[]; why_recommended: string };

/** What cannot be used in them, by its place. `claims`: it says too much, by the wording linter. */
export type PickFault = { path: string; message: string; claims: boolean };

/**
 * Checks and cleans the words of a recommendation, no matter who wrote them: spaces collapsed, phrases that say the same left
 * out, lengths, safe characters, restrained wording. What agents wrote holds no links, addresses or wallets either.
 */
export function checkPickText(
  raw: { recommended_for: readonly string[]; why_recommended: string },
  { byAgent }: { byAgent: boolean },
): Result<PickText, PickFault[]> {
  const faults: PickFault[] = [];
  const check = (path: string, text: string, lengthMax: number) => {
    faults.push(...faultsOf(path, text, { lengthMax, byAgent }));
    return text;
  };
  const phrases = new Map<string, string>();
  for (const [at, given] of raw.recommended_for.entries()) {
    const path = `recommended_for[${at}]`;
    const phrase = check(path, cleaned(given), intentLengthMax);
    const compared = normaliseIntent(phrase);
    if (compared !== "" && !phrases.has(compared)) phrases.set(compared, phrase);
    if (compared === "" && phrase !== "") {
      faults.push({ path, message: "A donor intent needs letters or digits.", claims: false });
    }
  }
  const why_recommended = check("why_recommended", cleaned(raw.why_recommended), reasonLengthMax);
  if (raw.recommended_for.length === 0 || raw.recommended_for.length > intentsMax) {
    const message = `recommended_for holds 1 to ${intentsMax} donor intents.`;
    faults.push({ path: "recommended_for", message, claims: false });
  }
  return faults.length > 0
    ? fail(faults)
    : ok({ recommended_for: [...phrases.values()], why_recommended });
}

const cleaned = (text: string): string => text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();

function faultsOf(
  path: string,
  text: string,
  { lengthMax, byAgent }: { lengthMax: number; byAgent: boolean },
): PickFault[] {
  const fault = (message: string) => [{ path, message, claims: false }];
  if (text === "") return fault("It is empty.");
  if (characterCount(text) > lengthMax) return fault(`It has at most ${lengthMax} characters.`);
  const unsafe = unsafeCharacter(text, { prose: true });
  if (unsafe !== null) return fault(`It holds a character that is not allowed (${unsafe}).`);
  if (byAgent && linkLike.test(text)) {
    return fault("It holds a link, an address or a wallet: put the evidence into source_url.");
  }
  const claims = wordingFaults(text);
  return claims.length === 0 ? [] : [{ path, message: `${describeFaults(claims)}.`, claims: true }];
}

/** Words around a topic that say nothing of it: "Recommended for donors interested in wells" is about wells. */
const frame =
  /^(?:recommended )?(?:for )?(?:donors|givers|supporters|people)(?: who are)? interested in |^recommended for /;

/**
 * The form in which a donor-intent phrase is compared: letter case, accents on Latin letters, punctuation, hyphens and
 * the words around the topic ("recommended for donors interested in") do not matter. "" for a phrase without letters and
 * digits. Source: docs/decisions/29.
 */
export function normaliseIntent(phrase: string): string {
  const plain = phrase
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036F]+/g, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
  return plain.replace(frame, "") || plain;
}

/** The form in which arrays of donor intents are compared: order and repetition do not matter. A JSON array. */
export const normaliseIntents = (phrases: readonly string[]): string =>
  JSON.stringify([...new Set(phrases.map(normaliseIntent))].filter((one) => one !== "").sort());

/** A claim found in a text: as written, where it begins (characters), and what may be said instead. */
export type WordingFault = { phrase: string; at: number; use: string };

/** What may stand between two words of a phrase: spaces, hyphens, and marks that set one of them off. */
const between = String.raw`[\s\p{Pd}\p{Pc}\p{Pi}\p{Pf}"'*~/·]+`;

/** Letters and digits on either side would make it another word. */
const pattern = (phrases: readonly string[]): RegExp => {
  const forms = [...phrases]
    .sort((a, b) => b.length - a.length)
    .map((phrase) => phrase.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .map((phrase) => phrase.replaceAll(/[ -]+/g, between));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms.join("|")})(?![\\p{L}\\p{N}])`, "giu");
};

const harmless = pattern(wording.harmless);
const forbidden = wording.forbidden.map(({ phrases, use }) => ({ claim: pattern(phrases), use }));

/**
 * The claims of a text that a recommendation must not make (best, most effective, top-rated, …), in reading order,
 * each with restrained words to use instead. Letters in disguise are read as what they look like. Empty: the text may
 * stand. Source: spec, "Ranking weights".
 */
export function wordingFaults(text: string): WordingFault[] {
  const plain = plainLetters(text);
  // Harmless phrases ("best practice") are blanked in place, so that positions stay true.
  const read = plain.text.replaceAll(harmless, (phrase) => " ".repeat(phrase.length));
  return forbidden
    .flatMap(({ claim, use }) => hits(claim, read, plain).map((one) => ({ ...one, use })))
    .sort((a, b) => a.at - b.at);
}

/** What of a text fits, as it is written. */
const hits = (phrases: RegExp, text: string, { written }: ReturnType<typeof plainLetters>) =>
  [...text.matchAll(phrases)].map(({ 0: { length }, index }) => written(index, length));

const sensitive = wording.sensitive.map(({ claim, phrases }) => ({
  claim: claim as SensitiveClaim["claim"],
  phrases: pattern(phrases),
}));

/** A claim that only a person may let through. */
export type SensitiveClaim = { claim: "impact" | "effectiveness"; phrase: string };

/**
 * What a text says of impact and effectiveness, by a closed list (wording.json, "sensitive"): allowed words, but agents'
 * agreement alone does not make them recommendations. Source: spec, "Versioning" 3.
 */
export function sensitiveClaims(text: string): SensitiveClaim[] {
  const plain = plainLetters(text);
  return sensitive.flatMap(({ claim, phrases }) =>
    hits(phrases, plain.text, plain).map(({ phrase }) => ({ claim, phrase })),
  );
}

/** The faults as one sentence for the writer of the text. */
export const describeFaults = (faults: readonly WordingFault[]): string =>
  faults.map(({ phrase, use }) => `"${phrase}" claims too much: say ${use}`).join("; ");
