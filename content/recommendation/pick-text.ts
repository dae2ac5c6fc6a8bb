import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { intentLengthMax, intentsMax, reasonLengthMax } from "#content/contract/recommendation.ts";
import { describeFaults, linkLike, textFault, wordingFaults } from "#content/nonprofit/text.ts";

export type PickText = { recommended_for: string[]; why_recommended: string };

/** An error in the words, with its path. `claims`: they claim too much, according to the wording rules. */
export type PickFault = { path: string; message: string; claims: boolean };

/**
 * Checks and cleans the words of a recommendation, whoever wrote them: collapsed spaces, no equivalent phrases, lengths,
 * safe characters, restrained wording. An agent's words may hold no links, addresses or wallets either.
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
    const phrase = check(path, cleanPhrase(given), intentLengthMax);
    const normalPhrase = normaliseIntent(phrase);
    if (normalPhrase !== "" && !phrases.has(normalPhrase)) phrases.set(normalPhrase, phrase);
    if (normalPhrase === "" && phrase !== "") {
      faults.push({ path, message: "A donor intent needs letters or digits.", claims: false });
    }
  }
  const why_recommended = check(
    "why_recommended",
    cleanPhrase(raw.why_recommended),
    reasonLengthMax,
  );
  if (raw.recommended_for.length === 0 || raw.recommended_for.length > intentsMax) {
    const message = `recommended_for holds 1 to ${intentsMax} donor intents.`;
    faults.push({ path: "recommended_for", message, claims: false });
  }
  return faults.length > 0
    ? fail(faults)
    : ok({ recommended_for: [...phrases.values()], why_recommended });
}

const cleanPhrase = (text: string): string => text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();

function faultsOf(
  path: string,
  text: string,
  { lengthMax, byAgent }: { lengthMax: number; byAgent: boolean },
): PickFault[] {
  const fault = (message: string) => [{ path, message, claims: false }];
  const wrong = textFault("It", text, { lengthMax, prose: true });
  if (wrong !== null) return fault(wrong);
  if (byAgent && linkLike.test(text)) {
    return fault("It holds a link, an address or a wallet: put the evidence into source_url.");
  }
  const claims = wordingFaults(text);
  return claims.length === 0 ? [] : [{ path, message: `${describeFaults(claims)}.`, claims: true }];
}

/** Words around a topic without meaning: "Recommended for donors interested in wells" is about wells. */
const frame =
  /^(?:recommended )?(?:for )?(?:donors|givers|supporters|people)(?: who are)? interested in |^recommended for /;

/**
 * The comparison form of a donor-intent phrase: letter case, accents on Latin letters, punctuation, hyphens and the words
 * around the topic ("recommended for donors interested in") do not matter. "" for a phrase without letters and digits
 * (docs/decisions/29-recommendations.md).
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

/** The comparison form of an array of donor intents: order and repetition do not matter. A JSON array. */
export const normaliseIntents = (phrases: readonly string[]): string =>
  JSON.stringify(
    [...new Set(phrases.map(normaliseIntent))].filter((phrase) => phrase !== "").sort(),
  );
