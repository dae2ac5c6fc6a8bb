/**
 * The form in which agent ids are compared: spelling variants of one id are one agent. Characters that nobody sees make
 * no other id, as in Unicode's own folding of identifiers (NFKC_Casefold). Source: decisions.md.
 */
export const foldAgentId = (raw: string): string =>
  raw.normalize("NFKC").replaceAll(ignorable, "").trim().toLowerCase();

const ignorable = /\p{Default_Ignorable_Code_Point}+/gu;

/** Alphabets whose letters look alike; writing systems that are used together (Han, Kana, Hangul) are not here. */
const lookalikes = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
] as const;

/** True when an id mixes alphabets that look alike, as one made to pass for another does. It is flagged, not refused. */
export const isMixedScript = (id: string): boolean =>
  lookalikes.filter((script) => script.test(id)).length > 1;

/** What an operator and readers of the leaderboard are told of an id. */
export const agentFlags = (id: string): string[] => (isMixedScript(id) ? ["mixed_script_id"] : []);
