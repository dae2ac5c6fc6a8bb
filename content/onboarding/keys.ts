import { createHmac } from "node:crypto";
import type { Issuer } from "./wallet-challenge.ts";

/** Secrets of a request, each of them always the same for the same id and no use for another. */
export type OnboardingKeys = ReturnType<typeof onboardingKeys>;
export type ProofKeys = Omit<OnboardingKeys, "issuer">;

/**
 * What makes challenges, links to status pages and proofs: keyed with a key of its own, so that links outlive a change
 * of the signing key. Nothing of it is stored.
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
    /** What stands in a file or in DNS to prove control of a host. No secret once it is there. */
    hostToken: (submissionId: string) => `almoner-claim=${code(`host\n${submissionId}`)}`,
    /** What stands for a mail address in the outbox. */
    addressSeal: (address: string) => code(`address\n${address.toLowerCase()}`),
    /** Seals the link that proves control of a mailbox at this host. */
    linkSeal: (submissionId: string, host: string, issuedAt: string) =>
      code(`link\n${submissionId}\n${host}\n${issuedAt}`),
  };
}
