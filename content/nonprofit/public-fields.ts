/** Fields of the store that the public profile shows under another name. */
const publicNames: Readonly<Record<string, string>> = {
  country_code: "country",
  wallet_challenge: "wallet_proof",
  wallet_signature: "wallet_proof",
};

/** The names under which changed fields of the store are public, each once. */
export const publicFields = (fields: readonly string[]): string[] => [
  ...new Set(fields.map((field) => publicNames[field] ?? field)),
];
