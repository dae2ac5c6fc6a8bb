/** Words around a topic that say nothing of it: "Recommended for donors interested in wells" is about wells. */
const frame =
  /^(?:recommended )?(?:for )?(?:donors|givers|supporters|people)(?: who are)? interested in |^recommended for /;

/**
 * The form in which a donor-intent phrase is compared: letter case, accents on Latin letters, punctuation, hyphens and
 * the words around the topic ("recommended for donors interested in") do not matter. "" for a phrase without letters and
 * digits. Source: docs/decisions/0061.
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
