import { timingSafeEqual } from "node:crypto";
import { agentLengthMax } from "#content/contract/enrichment.ts";
import { publicId } from "#content/nonprofit/public-name.ts";
import { characterCount, lettersOf, textFault, tooLong } from "#content/nonprofit/text.ts";

/**
 * The form in which agent ids are compared, so that spelling variants of one id are one agent. It ignores invisible
 * characters (as Unicode's NFKC_Casefold does), extra spaces, the kind of dash, and the final form of sigma. It normalises
 * again at the end, because removing an invisible character can join what it separated. Folding twice changes nothing.
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
 * The key under which an approved name is reserved: its letters and digits, so that `acme-research` is the name "Acme
 * Research". It begins with a space, as no folded id does.
 */
export const nameKey = (name: string): string => ` ${lettersOf(foldAgentId(name))}`;

/**
 * Alphabets with letters that look alike. Writing systems that are used together (Han, Kana, Hangul) are left out. Braille
 * has a letter that looks like a space. Source: UTS 39, confusables.
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

/** Latin letters that look like other letters. Names of people and places contain them; ids of programs do not. */
const latinLookalikes =
  /[\u0131\u0237\u01c0\u0251\u0261\u0269\u026a\u028f\u029f\u1d00-\u1d2b\ua730\ua731\ua78c]/u;

/** Whether an id mixes alphabets that look alike, as imitations of other ids do. It is flagged, not refused. */
export const isMixedScript = (id: string): boolean =>
  lookalikes.filter((script) => script.test(id)).length > 1;

/** The flags that operators and readers of the leaderboard see beside an id. */
export const agentFlags = (id: string): string[] =>
  isMixedScript(id) || latinLookalikes.test(id) ? ["mixed_script_id"] : [];

/** The sender: its folded id, and a name for people. */
export type Agent = { agent_id: string; agent_name: string };

/** Reads an agent's id and name, and what is wrong with them. Without a name, the agent is shown by its id as sent. */
export function readAgent(input: { agent_id: string; agent_name: string | null }): {
  agent: Agent;
  wrongs: { path: keyof Agent; message: string }[];
} {
  const written = input.agent_id.trim();
  const name = (input.agent_name ?? written).trim();
  const agent = { agent_id: foldAgentId(written), agent_name: name };
  // Check the id as it was sent: folding removes the characters that are not allowed.
  const lines = [
    ["agent_id", written],
    ["agent_name", name],
  ] as const;
  const wrongs = lines.flatMap(([path, line]) => {
    const message = textFault(path, line);
    return message === null ? [] : [{ path, message }];
  });
  // Folding can make an id longer: it splits ligatures and wide letters.
  if (characterCount(agent.agent_id) > agentLengthMax) {
    wrongs.push({ path: "agent_id", message: tooLong("agent_id", agentLengthMax) });
  }
  return { agent, wrongs };
}

/** What is stored about an id that has, or had, an owner. */
export type AgentKey = {
  /** SHA-256 of the secret; null for an id that has none. */
  secret_digest: string | null;
  /** When the owner revoked the id. A revoked id accepts nothing until an operator binds it again. */
  revoked_at: number | null;
  /** The name that an operator approved for the owner. */
  approved_name: string | null;
};

type VouchingKey = Pick<AgentKey, "secret_digest" | "approved_name">;

export const isBound = (key: Pick<AgentKey, "secret_digest"> | null): boolean =>
  (key?.secret_digest ?? null) !== null;

/**
 * A name that distinguishes an agent from all others: the name that an operator approved, or the id. Never the name that the
 * agent gives itself, which may be someone else's. Null for an unbound id, because no one vouches for it.
 */
export const vouchedName = (agent_id: string, key: VouchingKey | null): string | null =>
  isBound(key) ? (key?.approved_name ?? publicId(agent_id)) : null;

/** The name to store with a proposal: the approved one, or the agent's own unless that is the id of another agent. */
export const storedName = (
  { agent_id, agent_name }: Agent,
  key: Pick<AgentKey, "approved_name"> | null,
  { namesAnother }: { namesAnother: boolean },
): string => key?.approved_name ?? (namesAnother ? agent_id : agent_name);

/** Why a request may not write as this agent. */
export type SecretRefusal = {
  kind: "agent_secret_missing" | "agent_secret_wrong" | "agent_not_bound" | "agent_retired";
  agent_id: string;
};

/**
 * Checks whether a request may write as an agent: a bound id needs its secret, an unbound one accepts none. `secretDigest`
 * is that of the secret in the request, null if there was none. Digests are compared in constant time.
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
    // Ignoring the secret would make its sender believe that the id is protected.
    return secretDigest === null ? null : refused("agent_not_bound");
  }
  if (secretDigest === null) return refused("agent_secret_missing");
  const isSame = timingSafeEqual(Buffer.from(digest), Buffer.from(secretDigest));
  return isSame ? null : refused("agent_secret_wrong");
}

/** The prefix of every agent secret. It distinguishes secrets from bearer tokens of gateways and other services. */
export const agentSecretStart = "agent_";
