import { dayMs } from "#content/contract/base/time.ts";
import { endpoint } from "#site/documents/endpoint.ts";

/** Source: RFC 9116, 2.5.5: less than a year. */
const expiryDays = 180;

/**
 * Source: RFC 9116. The contact is what the operator set, or the role mailbox of RFC 2142. It expires some time after the
 * day of publication, which turns daily.
 */
export const GET = endpoint<"/.well-known/security.txt">(({ baseUrl, day, contact }) => {
  const expires = new Date(Date.parse(`${day}T00:00:00Z`) + expiryDays * dayMs);
  return [
    `Contact: ${contact ?? `mailto:security@${new URL(baseUrl).hostname}`}`,
    `Expires: ${expires.toISOString().slice(0, 19)}Z`,
    "Preferred-Languages: en",
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    "",
  ].join("\n");
});
