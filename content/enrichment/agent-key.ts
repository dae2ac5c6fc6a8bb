import { createHash, timingSafeEqual } from "node:crypto";
import { publicId } from "#content/nonprofit/public-name.ts";

/** What is stored of an id that is owned, or was. */
export type AgentKey = {
  /** SHA-256 of the secret; null for an id that has none. */
  secret_digest: string | null;
  /** When its owner gave the id up: it takes nothing until an operator binds it again. */
  revoked_at: number | null;
  /** The name that an operator approved for the owner. */
  approved_name: string | null;
};

type Vouched = Pick<AgentKey, "secret_digest" | "approved_name">;

/** What is kept of a secret. */
export const secretDigest = (secret: string): string =>
  createHash("sha256").update(secret).digest("base64url");

export const isBound = (key: Pick<AgentKey, "secret_digest"> | null): boolean =>
  (key?.secret_digest ?? null) !== null;

/**
 * The name under which an agent is told from all others: that which an operator approved, or its id. Never the one that it
 * gives itself, which may be another's. Null for an id that is not bound: no one vouches for it.
 */
export const vouchedName = (agent_id: string, key: Vouched | null): string | null =>
  isBound(key) ? (key?.approved_name ?? publicId(agent_id)) : null;

/** Why a request may not write as this agent. */
export type SecretRefusal = {
  kind: "agent_secret_missing" | "agent_secret_wrong" | "agent_not_bound" | "agent_retired";
  agent_id: string;
};

/**
 * Whether a request may write as an agent: who owns an id shows its secret, all others show none. `given` is the digest of
 * what came, null for nothing. Digests are compared in constant time.
 */
export function secretRefusal(
  agent_id: string,
  key: AgentKey | null,
  given: string | null,
): SecretRefusal | null {
  const refused = (kind: SecretRefusal["kind"]) => ({ kind, agent_id });
  const digest = key?.secret_digest ?? null;
  if (digest === null) {
    if ((key?.revoked_at ?? null) !== null) return refused("agent_retired");
    // A secret that is not looked at would make its owner believe that the id is safe.
    return given === null ? null : refused("agent_not_bound");
  }
  if (given === null) return refused("agent_secret_missing");
  const isSame = timingSafeEqual(Buffer.from(digest), Buffer.from(given));
  return isSame ? null : refused("agent_secret_wrong");
}

/** How every secret of an agent begins, so that the bearer token of a gateway or another service is not taken for one. */
export const agentSecretStart = "agent_";
