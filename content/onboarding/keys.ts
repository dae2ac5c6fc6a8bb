import { createHmac } from "node:crypto";
import type { Issuer } from "./wallet-challenge.ts";

/** Secrets of a request. Each is always the same for an id and useless for any other. */
export type OnboardingKeys = ReturnType<typeof onboardingKeys>;
export type HostProofKeys = Omit<OnboardingKeys, "issuer">;

/**
 * Makes challenges, links to status pages and proofs. They have a key of their own, so that links outlive a change of the
 * signing key. Nothing is stored.
 */
export function onboardingKeys({
  config,
  secrets,
}: {
  config: { baseUrl: string };
  secrets: { onboardingKey: Uint8Array };
}) {
  const code = (text: string) =>
    createHmac("sha256", secrets.onboardingKey).update(text).digest("base64url");
  const issuer: Issuer = {
    host: new URL(config.baseUrl).host,
    seal: (text) => code(`challenge\n${text}`).slice(0, 22),
  };
  return {
    issuer,
    statusToken: (submissionId: string) => code(`status\n${submissionId}`),
    /** The token in a file or in DNS that proves control of a host. It is public once it is there. */
    hostToken: (submissionId: string) => `almoner-claim=${code(`host\n${submissionId}`)}`,
    /** Represents a mail address in the outbox. */
    addressSeal: (address: string) => code(`address\n${address.toLowerCase()}`),
    /** Seals the link that proves control of a mailbox at this host. */
    linkSeal: (submissionId: string, host: string, issuedAt: string) =>
      code(`link\n${submissionId}\n${host}\n${issuedAt}`),
  };
}
