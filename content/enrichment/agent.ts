import { timingSafeEqual } from "node:crypto";
import { agentLengthMax } from "#content/contract/enrichment.ts";
import { publicId } from "#content/nonprofit/public-name.ts";
import { characterCount } from "#content/nonprofit/text.ts";
import { checkLine } from "./value.ts";

/**
 * The form in which agent ids are compared: spelling variants of one id are one agent. Characters that no one sees make
 * no other id, as in Unicode's own folding of identifiers (NFKC_Casefold), nor does more or other space between words,
 * another dash, or the final form of a sigma. Normalised again at the end: what an unseen character kept apart comes together. Folded twice it stays the same.
 * Source: the decisions of the spec.
 */
export const foldAgentId = (raw: string): string =>
  raw
    .normalize("NFKC")
    .replaceAll(ignorable, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .replaceAll(/\p{Dash}/gu, "-")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFKC");

const ignorable = /\p{Default_Ignorable_Code_Point}+/gu;

/**
 * Alphabets whose letters look alike; writing systems that are used together (Han, Kana, Hangul) are not here. Braille has
 * a letter that looks like a space. Source: UTS 39, confusables.
 */
const lookalikes = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Braille}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Deseret}/u,
  /\p{Script=Lisu}/u,
] as const;

/** Latin letters that look like others: names of people and places have them, ids of programs do not. */
const latinLookalikes =
  /[\u0131\u0237\u01c0\u0251\u0261\u0269\u026a\u028f\u029f\u1d00-\u1d2b\ua730\ua731\ua78c]/u;

/** True when an id mixes alphabets that look alike, as one made to pass for another does. It is flagged, not refused. */
export const isMixedScript = (id: string): boolean =>
  lookalikes.filter((script) => script.test(id)).length > 1;

/** What an operator and readers of the leaderboard see beside an id. */
export const agentFlags = (id: string): string[] =>
  isMixedScript(id) || latinLookalikes.test(id) ? ["mixed_script_id"] : [];

/** Who sends: the id in the form in which ids are compared, and a name for people. */
export type Agent = { agent_id: string; agent_name: string };

/** Reads how an agent names itself, and what is wrong with that. Without a name it goes by its id as it was written. */
export function readAgent(input: { agent_id: string; agent_name: string | null }): {
  agent: Agent;
  wrongs: { path: keyof Agent; message: string }[];
} {
  const written = input.agent_id.trim();
  const name = (input.agent_name ?? written).trim();
  const agent = { agent_id: foldAgentId(written), agent_name: name };
  // As it was written: the folded form has lost what must not be there.
  const lines = [
    ["agent_id", written],
    ["agent_name", name],
  ] as const;
  const wrongs = lines.flatMap(([path, line]) => {
    const message = checkLine(path, line);
    return message === null ? [] : [{ path, message }];
  });
  // Folding takes ligatures and wide letters apart.
  if (characterCount(agent.agent_id) > agentLengthMax) {
    const message = `agent_id has at most ${agentLengthMax} characters.`;
    wrongs.push({ path: "agent_id", message });
  }
  return { agent, wrongs };
}

/** What is stored of an id that is owned, or was. */
export type AgentKey = {
  /** SHA-256 of the secret; null for an id that has none. */
  secret_digest: string | null;
  /** When its owner gave the id up: it takes nothing until an operator binds it again. */
  revoked_at: number | null;
  /** The name that an operator approved for the owner. */
  approved_name: string | null;
};

type VouchingKey = Pick<AgentKey, "secret_digest" | "approved_name">;

export const isBound = (key: Pick<AgentKey, "secret_digest"> | null): boolean =>
  (key?.secret_digest ?? null) !== null;

/**
 * The name under which an agent is told from all others: that which an operator approved, or its id. Never the one that it
 * gives itself, which may be another's. Null for an id that is not bound: no one vouches for it.
 */
export const vouchedName = (agent_id: string, key: VouchingKey | null): string | null =>
  isBound(key) ? (key?.approved_name ?? publicId(agent_id)) : null;

/** Why a request may not write as this agent. */
export type SecretRefusal = {
  kind: "agent_secret_missing" | "agent_secret_wrong" | "agent_not_bound" | "agent_retired";
  agent_id: string;
};

/**
 * Whether a request may write as an agent: who owns an id shows its secret, all others show none. `secretDigest` is the
 * digest of the secret that was sent, null for none. Digests are compared in constant time.
 */
export function secretRefusal(
  agent_id: string,
  key: AgentKey | null,
  secretDigest: string | null,
): SecretRefusal | null {
  const refused = (kind: SecretRefusal["kind"]) => ({ kind, agent_id });
  const digest = key?.secret_digest ?? null;
  if (digest === null) {
    if ((key?.revoked_at ?? null) !== null) return refused("agent_retired");
    // A secret that is not looked at would make its owner believe that the id is safe.
    return secretDigest === null ? null : refused("agent_not_bound");
  }
  if (secretDigest === null) return refused("agent_secret_missing");
  const isSame = timingSafeEqual(Buffer.from(digest), Buffer.from(secretDigest));
  return isSame ? null : refused("agent_secret_wrong");
}

/** How every secret of an agent begins, so that the bearer token of a gateway or another service is not taken for one. */
export const agentSecretStart = "agent_";
