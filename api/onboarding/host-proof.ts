import details from "#content/editorial/problem-details.json";
import { fillDetail } from "#content/contract/base/fill.ts";
import type { Config } from "#api/config.ts";
import type { Context } from "#api/context.ts";
import type { FailureTable } from "#api/http/problem.ts";
import type { SendMail, HostProofWorld, HostProofFailure } from "#content/onboarding/prove-host.ts";
import { onboardingKeys } from "#content/onboarding/keys.ts";
import { withTimeout } from "#content/runtime/timing.ts";
import { openHostLook } from "./look-at-host.ts";

/** What proofs are made with in a service. */
export const openHostProof = (
  context: Pick<Context, "store" | "clock" | "config" | "secrets">,
  sendMail: SendMail | null,
): HostProofWorld => {
  const { store, clock, config } = context;
  const { baseUrl } = config;
  return {
    store,
    clock,
    config,
    baseUrl,
    ...onboardingKeys(context),
    look: openHostLook(config),
    sendMail,
  };
};

const mailWaitMs = 5_000;

/** Sends by the operator's mail server; null when none is set. nodemailer is loaded with the first mail. */
export function openMail(
  mail: Config["mail"],
  onFailure: (error: unknown) => void,
): SendMail | null {
  if (mail === null) return null;
  const limits = {
    connectionTimeout: mailWaitMs,
    greetingTimeout: mailWaitMs,
    socketTimeout: mailWaitMs,
  };
  return async (message) => {
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({ url: mail.url, ...limits });
    try {
      const sent = await withTimeout(
        transport.sendMail({ from: mail.from, ...message }),
        mailWaitMs,
      );
      return sent !== null;
    } catch (error) {
      onFailure(error);
      return false;
    } finally {
      transport.close();
    }
  };
}

/** Why nothing was proven, and what to do instead. */
export const hostProofAnswers: FailureTable<HostProofFailure> = {
  ...details.host_proof,
  host_not_reached: (failure) => fillDetail(details.host_proof.host_not_reached, failure),
};
