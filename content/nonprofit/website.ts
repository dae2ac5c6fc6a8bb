import hosts from "#content/editorial/hosts.json";

/** Query parameters that only track where a visitor came from. Source: spec, "Normalisation" ("and similar"). */
const trackingParameter =
  /^(?:utm_\w+|ref|ref_src|ref_url|referrer|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|igsh|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|li_fat_id|mkt_tok|vero_id|srsltid)$/i;

/** Whether a parameter only says where a visitor came from. */
export const isTracking = (name: string): boolean => trackingParameter.test(name);

/** Endings that no public site has. `.example` stays: the sample directory lives there. */
const privateEndings: ReadonlySet<string> = new Set(hosts.private_endings);

/** A website as it may go live: with a scheme, without tracking parameters, its path in the letter case given. */
export type Website = { live: string; url: URL };

/**
 * Reads a website as agents write it: a bare host gets https. Null for what is no http(s) address of a public host: no
 * credentials, no IP address, no single label, no private ending. Nothing is fetched.
 */
export function readWebsite(raw: string): Website | null {
  const text = raw.trim();
  if (/[\s\\<>"]/.test(text)) return null;
  const url = URL.parse(withScheme(text));
  if (url === null || !isPublicAddress(url)) return null;
  url.search = withoutTracking(url.search);
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" && !text.endsWith("/");
  // An empty fragment leaves its mark in href although it says nothing; setting it to nothing takes the mark off.
  if (url.hash === "") url.hash = "";
  return { live: bare && url.href.endsWith("/") ? url.href.slice(0, -1) : url.href, url };
}

const isPublicAddress = ({ protocol, username, password, hostname }: URL): boolean =>
  /^https?:$/.test(protocol) && username === "" && password === "" && isPublicHost(hostname);

/**
 * Turns a website into its comparison form: scheme, default port, `www.`, fragment and tracking parameters do not
 * matter; host and path in lower case; a trailing slash matters except at the root. "" for text that is no public
 * website. Source: spec, "Normalisation applied before comparing values", and its decisions, "Comparing".
 */
export function comparedWebsite(raw: string): string {
  const website = readWebsite(raw);
  if (website === null) return "";
  const { hostname, port, pathname, search } = website.url;
  const host = withoutWww(hostname.replace(/\.$/, ""));
  // 80 and 443 are both taken off, so that the form stays the same whatever the scheme was.
  const shownPort = port === "" || port === "80" || port === "443" ? "" : `:${port}`;
  const path = comparedPath(pathname);
  return `https://${host}${shownPort}${path === "/" ? "" : path}${search === "?" ? "" : search}`;
}

/** The host of a website in its comparison form, without a port; "" for what is no public website. */
export const websiteHost = (website: string): string =>
  URL.parse(comparedWebsite(website))?.hostname ?? "";

/**
 * The website that goes live when agents sent these, which compare as equal: nothing that only one of them sent. https
 * where any has it, the host with `www.` where all have it, no fragment; when their paths differ (in letter case), the root
 * of the site. Source: the decisions of the spec, "Second wave".
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

/** True for a host name on the public internet; IDN hosts come in punycode. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "");
  const labels = host.split(".");
  const ending = labels.at(-1) ?? "";
  return (
    host.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) &&
    // A number at the end makes an IP address of it; IPv6 has brackets and fell out above.
    !/^(?:\d+|0x[0-9a-f]*)$/.test(ending) &&
    ending.length >= 2 &&
    !privateEndings.has(ending)
  );
}

/** An address as people write it, with https where it names no scheme. */
export function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  if (text.startsWith("//")) return `https:${text}`;
  // "mailto:x" and "javascript:x" keep their scheme and are refused; "example.org:8080" is a host with a port.
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
  // Repeated, so that the form is stable; "www.org" is a site of its own.
  while (host.startsWith("www.") && host.slice(4).includes(".")) host = host.slice(4);
  return host;
}

/** Lower case also of letters that stand percent-encoded, and those in one Unicode form. */
function comparedPath(pathname: string): string {
  const letters = pathname.replaceAll(/(?:%[89a-f][0-9a-f])+/gi, decoded);
  const lowered = letters.normalize("NFC").toLowerCase().normalize("NFC");
  const url = new URL("https://host.example/");
  url.pathname = lowered;
  return url.pathname.toLowerCase();
}

/** A part of an address with its letters as they are read. */
export const withLetters = (part: string): string =>
  part.replaceAll(/(?:%[0-9a-f]{2})+/gi, decoded);

function decoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** Sites at which many organisations have a page each: the same host says nothing there, the same page does. */
const sharedHosts: ReadonlySet<string> = new Set(hosts.shared);

/** Which stored websites are the same site: those equal to one of `same`, or with a path below `below`. */
export type SiteKey = { same: string[]; below: string | null };

/**
 * The site of a website in the words of the index nonprofits_by_site: lower case, without scheme and "www.". Null for what
 * is not a website.
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

/** The host of an address without `www.`; "" for none. */
export const siteHost = (address: string | null): string => {
  const host = address === null ? "" : (URL.parse(withScheme(address))?.hostname ?? "");
  return withoutWww(host.replace(/\.$/, ""));
};

/** What the index does to a stored website. Source: content/store/tables/nonprofits.ts. */
const indexed = (website: string): string =>
  website.toLowerCase().replaceAll("https://", "").replaceAll("http://", "").replaceAll("www.", "");
