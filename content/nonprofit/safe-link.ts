const linkLengthMax = 2_048;

// A host must follow at once, and nothing that a reader could mistake for it: no user names, no white space, no
// control or bidi characters, nothing that ends an attribute.
const webLink = /^https?:\/\/[^\s/?#@\\"'<>`]+(?:[/?#][^\s"'<>`\\]*)?$/iu;
const mailLink = /^mailto:[^\s"'<>`\\@?]+@[^\s"'<>`\\@?]+$/iu;
// Nearly all links are of this kind, and told at once.
const plainLink = /^https?:\/\/[a-z0-9][a-z0-9.-]*(?:\/[\w./~%+-]*)?$/;
const hidden = /[\p{Cc}\p{Cf}]/u;

/**
 * A link that a page may carry: http, https or mailto, as it stands; null for anything else. Links come from
 * registers and strangers, so `javascript:` and its like must never reach an href.
 */
export function safeLink(link: string | null): string | null {
  if (link === null || link.length > linkLengthMax) return null;
  if (plainLink.test(link)) return link;
  if (hidden.test(link)) return null;
  return webLink.test(link) || mailLink.test(link) ? link : null;
}

/** What a link shows to a reader: its host, without "www.". The link is one that `safeLink` gave. */
export function linkHost(link: string): string {
  const [, host = link] = /^https?:\/\/(?:www\.)?([^/?#]+)/iu.exec(link) ?? [];
  return host.toLowerCase();
}
