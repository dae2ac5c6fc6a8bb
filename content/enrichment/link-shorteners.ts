import linkShorteners from "#content/editorial/link-shorteners.json";
import { comparedWebsite } from "#content/nonprofit/website.ts";

// Not beside what else is known of websites: that is in the donation button, which has no room for this list.

/**
 * True for a public service that gives links other, shorter addresses, or that leads on to an address in its query: who
 * made the link decides where it leads. The list names hosts, with all below them, and paths at one host.
 */
export function isLinkShortener(website: string): boolean {
  const url = URL.parse(comparedWebsite(website));
  if (url === null) return false;
  const labels = url.hostname.split(".");
  const page = url.hostname + url.pathname.replace(/\/$/, "");
  return shorteners.has(page) || labels.some((_, at) => shorteners.has(labels.slice(at).join(".")));
}

/** What is said of a link of such a service. */
export const shortenedLink = (field: string): string =>
  `${field} is an address of a service that shortens links, and its maker can change where it leads. Follow it, and send the organisation's own address.`;

const shorteners: ReadonlySet<string> = new Set(linkShorteners);
