import { createHmac } from "node:crypto";
import type { Issuer } from "#content/onboarding/wallet-challenge.ts";
import type { Context } from "#api/context.ts";

export type OnboardingKeys = {
  issuer: Issuer;
  statusToken: (submissionId: string) => string;
};

/**
 * What makes challenges and links to status pages: keyed with a key of its own, derived from the signing key, so that
 * processes with the same signing key know each other's. Nothing of it is stored.
 */
export function onboardingKeys({
  config,
  secrets,
}: Pick<Context, "config" | "secrets">): OnboardingKeys {
  const key = createHmac("sha256", secrets.signingKey).update("almoner onboarding").digest();
  const code = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    issuer: {
      host: new URL(config.baseUrl).host,
      seal: (text) => code(`challenge\n${text}`).slice(0, 22),
    },
    statusToken: (submissionId) => code(`status\n${submissionId}`),
  };
}
