import { comparedWebsite } from "./website.ts";

/** Sites at which many organisations have a page each: the same host says nothing there, the same page does. */
const sharedHosts = new Set([
  "facebook.com",
  "m.facebook.com",
  "instagram.com",
  "twitter.com",
  "x.com",
  "linkedin.com",
  "youtube.com",
  "tiktok.com",
  "linktr.ee",
  "sites.google.com",
  "docs.google.com",
  "forms.gle",
  "gofundme.com",
  "justgiving.com",
  "givebutter.com",
  "paypal.com",
  "eventbrite.com",
  "meetup.com",
  "medium.com",
  "github.com",
  "wa.me",
  "t.me",
  "guidestar.org",
]);

/** Which stored websites are the same site: those equal to one of `same`, or with a path below `below`. */
export type SiteKey = { same: string[]; below: string | null };

/**
 * The site of a website in the words of the index nonprofits_by_site: lower case, without scheme and "www.". Null for what
 * is no website.
 */
export function siteKey(website: string): SiteKey | null {
  const compared = comparedWebsite(website);
  if (compared === "") return null;
  const page = indexed(compared);
  const host = page.split("/", 1)[0] ?? "";
  if (sharedHosts.has(host)) return { same: [page, `${page}/`], below: null };
  return { same: [host], below: host };
}

export const isSharedHost = (host: string): boolean => sharedHosts.has(host);

/** What the index does to a stored website. Source: content/store/tables/nonprofits.ts. */
const indexed = (website: string): string =>
  website.toLowerCase().replaceAll("https://", "").replaceAll("http://", "").replaceAll("www.", "");
