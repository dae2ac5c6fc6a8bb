import type { Config } from "#api/config.ts";
import { within } from "#content/runtime/with-timeout.ts";
import type { SendMail } from "#content/onboarding/prove-host.ts";

const waitMs = 5_000;

/** Sends by the operator's mail server; null when none is set. nodemailer is loaded with the first mail. */
export function openMail(
  mail: Config["mail"],
  onFailure: (error: unknown) => void,
): SendMail | null {
  if (mail === null) return null;
  const limits = { connectionTimeout: waitMs, greetingTimeout: waitMs, socketTimeout: waitMs };
  return async (message) => {
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({ url: mail.url, ...limits });
    try {
      const sent = await within(transport.sendMail({ from: mail.from, ...message }), waitMs);
      return sent !== null;
    } catch (error) {
      onFailure(error);
      return false;
    } finally {
      transport.close();
    }
  };
}
