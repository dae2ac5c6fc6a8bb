import { dayMs, isoTime } from "#content/contract/base/time.ts";
import guide from "#content/editorial/guides/security.txt?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";

/** Source: RFC 9116, 2.5.5: less than a year. */
const expiryDays = 180;

/**
 * Source: RFC 9116. The contact is what the operator set, or the role mailbox of RFC 2142. It expires some time after the
 * day of publication, which turns daily.
 */
export const GET = endpoint<"/.well-known/security.txt">(({ baseUrl, day, contact }) => {
  const expires = isoTime(Date.parse(`${day}T00:00:00Z`) + expiryDays * dayMs);
  const mailbox = `mailto:security@${new URL(baseUrl).hostname}`;
  return filled(guide, { base_url: baseUrl, expires, contact: contact ?? mailbox });
});
