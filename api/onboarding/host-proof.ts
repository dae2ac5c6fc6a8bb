import details from "#content/editorial/problem-details.json";
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
  submission_not_found: { status: 404, detail: "Nothing with this id waits for a decision." },
  submission_decided: { status: 409, detail: details.host_proof.submission_decided },
  host_checks_off: { status: 409, detail: details.host_proof.host_checks_off },
  host_not_reached: ({ said }) => ({
    status: 503,
    detail: `Not proven yet, because a place could not be asked. ${said} Try again later.`,
    headers: { "retry-after": "60" },
  }),
  mail_not_possible: { status: 409, detail: details.host_proof.mail_not_possible },
  mail_sent_before: { status: 409, detail: details.host_proof.mail_sent_before },
  mail_not_sent: {
    status: 503,
    detail: details.host_proof.mail_not_sent,
    headers: { "retry-after": "600" },
  },
  code_not_valid: { status: 409, detail: details.host_proof.code_not_valid },
};
