import { blacklist } from "mailchecker";
import hosts from "#content/editorial/hosts.json";
import { linkHost } from "#content/nonprofit/safe-link.ts";
import { isSharedHost } from "#content/nonprofit/website.ts";

/** Hosts at which anybody can have an address: one there says nothing about an organisation. */
const freeMailHosts: ReadonlySet<string> = new Set(hosts.free_mail);

/** What the host of an e-mail address says: of the organisation's own site, of anybody's, or thrown away tomorrow. */
export type EmailHost = "own_site" | "free_mail" | "disposable" | "other";

export function emailHost(email: string, website: string | null): EmailHost {
  const host = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  if (isDisposable(host)) return "disposable";
  if (freeMailHosts.has(host)) return "free_mail";
  const site = website === null ? "" : linkHost(website);
  if (site === "" || isSharedHost(site)) return "other";
  const same = host === site || host.endsWith(`.${site}`) || site.endsWith(`.${host}`);
  return same ? "own_site" : "other";
}

/** Whether anybody can have an address at this host. */
export const isMailboxProvider = (host: string): boolean =>
  freeMailHosts.has(host) || isDisposable(host);

/** True for a host, or one above it, that hands out addresses to be thrown away. The list comes from mailchecker. */
function isDisposable(host: string): boolean {
  const labels = host.split(".");
  return labels.some(
    (_, at) => at < labels.length - 1 && disposable.has(labels.slice(at).join(".")),
  );
}

const disposable: ReadonlySet<string> = blacklist();
