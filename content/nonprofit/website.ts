import topLevelDomains from "tlds";
import hosts from "#content/editorial/hosts.json";
import linkShorteners from "#content/editorial/link-shorteners.json";

/** Query parameters that only track visitors. */
const trackingParameter =
  /^(?:utm_\w+|ref|ref_src|ref_url|referrer|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|igsh|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|li_fat_id|mkt_tok|vero_id|srsltid)$/i;

export const isTracking = (name: string): boolean => trackingParameter.test(name);

/** The endings of public sites, in punycode. `.example` is allowed: the sample directory uses it. */
const publicEndings: ReadonlySet<string> = new Set(
  [...topLevelDomains, "example"]
    .filter((ending) => ending !== "arpa")
    .map((ending) => new URL(`https://${ending}`).hostname),
);

/** A website as it may go live: with a scheme, without tracking parameters, its path in its original letter case. */
export type Website = { live: string; url: URL };

/**
 * Reads a website as agents write it; a bare host gets https. Null unless it is an http(s) address of a public host: no
 * credentials, no IP address, no single label, no ending that does not exist. Nothing is fetched.
 */
export function readWebsite(raw: string): Website | null {
  const text = raw.trim();
  if (/[\s\\<>"]/.test(text)) return null;
  const url = URL.parse(withScheme(text));
  if (url === null || !isPublicAddress(url)) return null;
  url.search = withoutTracking(url.search);
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" && !text.endsWith("/");
  // An empty fragment leaves "#" in href; setting it to "" removes that.
  if (url.hash === "") url.hash = "";
  return { live: bare && url.href.endsWith("/") ? url.href.slice(0, -1) : url.href, url };
}

const isPublicAddress = ({ protocol, username, password, hostname }: URL): boolean =>
  /^https?:$/.test(protocol) && username === "" && password === "" && isPublicHost(hostname);

/**
 * The comparison form of a website: scheme, default port, `www.`, fragment and tracking parameters do not matter; host and
 * path are in lower case; a trailing slash matters except at the root. "" for text that is no public website
 * (docs/consensus.md).
 */
export function comparedWebsite(raw: string): string {
  const website = readWebsite(raw);
  if (website === null) return "";
  const { hostname, port, pathname, search } = website.url;
  const host = withoutWww(hostname.replace(/\.$/, ""));
  // Remove both 80 and 443, so that the form does not depend on the scheme.
  const shownPort = port === "" || port === "80" || port === "443" ? "" : `:${port}`;
  const path = comparedPath(pathname);
  return `https://${host}${shownPort}${path === "/" ? "" : path}${search === "?" ? "" : search}`;
}

/** The host of a website in its comparison form, without a port; "" for text that is no public website. */
export const websiteHost = (website: string): string =>
  URL.parse(comparedWebsite(website))?.hostname ?? "";

/**
 * The website that goes live when agents sent these, which compare as equal; it has nothing that only one of them sent.
 * https if any has it, `www.` only if all have it, no fragment; if their paths differ (in letter case), the root of the
 * site.
 */
export function agreedWebsite(websites: readonly string[]): string {
  const urls = websites.flatMap((raw) => readWebsite(raw)?.url ?? []);
  const [first, ...others] = urls;
  if (first === undefined) return "";
  const agreed = new URL(comparedWebsite(first.href));
  const isSame = (part: "hostname" | "pathname") =>
    others.every((url) => url[part] === first[part]);
  if (!urls.some(({ protocol }) => protocol === "https:")) agreed.protocol = "http:";
  if (isSame("hostname")) agreed.hostname = first.hostname.replace(/\.$/, "");
  agreed.pathname = isSame("pathname") ? first.pathname : "/";
  if (!isSame("pathname")) agreed.search = "";
  return agreed.pathname === "/" && agreed.search === "" ? agreed.origin : agreed.href;
}

/** Whether a host name is on the public internet; international names must be in punycode. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "");
  const labels = host.split(".");
  return (
    host.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) &&
    publicEndings.has(labels.at(-1) ?? "")
  );
}

const shorteners: ReadonlySet<string> = new Set(linkShorteners);

/**
 * Whether a link is a public shortener's or redirector's: its maker decides where it leads. The list names hosts (including
 * all subdomains) and single paths.
 */
export function isLinkShortener(website: string): boolean {
  const url = URL.parse(comparedWebsite(website));
  if (url === null) return false;
  const labels = url.hostname.split(".");
  const page = url.hostname + url.pathname.replace(/\/$/, "");
  return shorteners.has(page) || labels.some((_, at) => shorteners.has(labels.slice(at).join(".")));
}

/** The error message for a link of such a service. */
export const shortenedLink = (field: string): string =>
  `${field} is an address of a service that shortens links, and its maker can change where it leads. Follow it, and send the organisation's own address.`;

/** An address as people write it, with https if it has no scheme. */
export function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  if (text.startsWith("//")) return `https:${text}`;
  // "mailto:x" and "javascript:x" keep their scheme and are refused later; "example.org:8080" is a host with a port.
  return /^[a-z][a-z0-9+-]*:(?!\d)/i.test(text) ? text : `https://${text}`;
}

function withoutTracking(search: string): string {
  const keptQuery = search
    .replace(/^\?/, "")
    .split("&")
    .filter((part) => !trackingParameter.test(decoded(part.split("=", 1)[0] ?? "")))
    .join("&");
  return keptQuery === "" ? "" : `?${keptQuery}`;
}

function withoutWww(hostname: string): string {
  let host = hostname;
  // Repeat, so that the result is stable; "www.org" is a site of its own.
  while (host.startsWith("www.") && host.slice(4).includes(".")) host = host.slice(4);
  return host;
}

/** Percent-encoded letters are decoded, put into one Unicode form, and lower-cased too. */
function comparedPath(pathname: string): string {
  const letters = pathname.replaceAll(/(?:%[89a-f][0-9a-f])+/gi, decoded);
  const lowered = letters.normalize("NFC").toLowerCase().normalize("NFC");
  const url = new URL("https://host.example/");
  url.pathname = lowered;
  return url.pathname.toLowerCase();
}

/** Part of an address with percent-encoded letters decoded. */
export const withLetters = (part: string): string =>
  part.replaceAll(/(?:%[0-9a-f]{2})+/gi, decoded);

function decoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** Sites where many organisations have a page each: only an equal page, not an equal host, means the same site. */
const sharedHosts: ReadonlySet<string> = new Set(hosts.shared);

/**
 * Identifies stored websites of the same site: those equal to one of `same`, or with a path below `below`, in the form of
 * the index nonprofits_by_site (lower case, without scheme and "www."). Null for text that is not a website.
 */
export function siteKey(website: string): { same: string[]; below: string | null } | null {
  const compared = comparedWebsite(website);
  if (compared === "") return null;
  const page = indexed(compared);
  const host = page.split("/", 1)[0] ?? "";
  if (sharedHosts.has(host)) return { same: [page, `${page}/`], below: null };
  return { same: [host], below: host };
}

export const isSharedHost = (host: string): boolean => sharedHosts.has(host);

/** The host of an address without `www.`; "" if there is none. */
export const siteHost = (address: string | null): string => {
  const host = address === null ? "" : (URL.parse(withScheme(address))?.hostname ?? "");
  return withoutWww(host.replace(/\.$/, ""));
};

/** The same expression as in the index (content/store/tables/nonprofits.ts). */
const indexed = (website: string): string =>
  website.toLowerCase().replaceAll("https://", "").replaceAll("http://", "").replaceAll("www.", "");
