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
  submission_decided: {
    status: 409,
    detail: "This request was decided before: send a new one.",
  },
  host_checks_off: {
    status: 409,
    detail: "This directory contacts no hosts: ALMONER_CLAIM_CHECKS is off. Nothing was looked at.",
  },
  host_not_reached: ({ said }) => ({
    status: 503,
    detail: `Not proven yet, because a place could not be asked. ${said} Try again later.`,
    headers: { "retry-after": "60" },
  }),
  mail_not_possible: {
    status: 409,
    detail:
      "No link can be sent: the directory sends no mail, or contact_email is not at the host itself. Use the file or the DNS record.",
  },
  mail_sent_before: {
    status: 409,
    detail:
      "A link was sent for this request in the last 10 minutes, or ten to this host today. Look for that mail, or try again later.",
  },
  mail_not_sent: {
    status: 503,
    detail:
      "The mail server did not say that it took the mail. Try again in 10 minutes, or use the file or the DNS record.",
    headers: { "retry-after": "600" },
  },
  code_not_valid: {
    status: 409,
    detail:
      "This link is not valid (any more): it works for 24 hours, for the host to which it was sent. Ask for another one.",
  },
};
