const linkLengthMax = 2_048;

// The host must follow the scheme directly, and nothing may imitate it: no user names, no white space, no control or bidi
// characters, nothing that ends an attribute.
const webLink = /^https?:\/\/[^\s/?#@\\"'<>`]+(?:[/?#][^\s"'<>`\\]*)?$/iu;
const mailLink = /^mailto:[^\s"'<>`\\@?]+@[^\s"'<>`\\@?]+$/iu;
// A fast path: nearly all links are of this form.
const plainLink = /^https?:\/\/[a-z0-9][a-z0-9.-]*(?:\/[\w./~%+-]*)?$/;
const hidden = /[\p{Cc}\p{Cf}]/u;

/**
 * Returns an http, https or mailto link unchanged, null for anything else. Links come from registers and strangers, so
 * `javascript:` and the like must never reach an href.
 */
export function safeLink(link: string | null): string | null {
  if (link === null || link.length > linkLengthMax) return null;
  if (plainLink.test(link)) return link;
  if (hidden.test(link)) return null;
  return webLink.test(link) || mailLink.test(link) ? link : null;
}

/** The text of a link: its host without "www.". The link must come from `safeLink`. */
export function linkHost(link: string): string {
  const [, host = link] = /^https?:\/\/(?:www\.)?([^/?#]+)/iu.exec(link) ?? [];
  return host.toLowerCase();
}
