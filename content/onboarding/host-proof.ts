import { linkHost } from "#content/nonprofit/safe-link.ts";
import type * as mailchecker from "mailchecker";
import hosts from "#content/editorial/hosts.json";
import type { ProvenBy } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { comparedWebsite, isSharedHost, websiteHost } from "#content/nonprofit/website.ts";
import { namedBy, type UnvouchedSource } from "#content/nonprofit/provenance.ts";

/** A proof of host control counts for 30 days, because hosts change owners. */
export const hostProofLifeMs = 30 * 86_400_000;

/** The part of a submission that concerns its host. `profile` is null for a registration. */
export type HostClaim = {
  profile: Pick<NonprofitRecord, "website" | "provenance"> | null;
  /** The website in the request, as edited by the operator. */
  website: string | null;
};

/** The last proof of a submission; instants in milliseconds since 1970. */
export type HostProof = {
  proven_host: string | null;
  proven_by: ProvenBy | null;
  proven_at: number | null;
};

export type HostControl =
  | { state: "proven"; host: string; ownWord: boolean; by: ProvenBy; at: number }
  | { state: "not_proven"; host: string }
  | { state: "nothing_to_prove_against"; why: string };

/**
 * Whether the sender has proven control of the organisation's host: that of the live website, or for a registration the one
 * it names. It is checked again at approval, because the live website may have changed since.
 */
export function hostControl(claim: HostClaim, proof: HostProof, nowMs: number): HostControl {
  const due = hostToProve(claim);
  if (!due.ok) return { state: "nothing_to_prove_against", ...due.failure };
  const { host, ownWord } = due.value;
  const { proven_host, proven_by: by, proven_at: at } = proof;
  const isProven = proven_host === host && at !== null && at > nowMs - hostProofLifeMs;
  return isProven && by !== null
    ? { state: "proven", host, ownWord, by, at }
    : { state: "not_proven", host };
}

/**
 * The host to prove, without "www.", and the website that names it; or why there is none. `ownWord`: only the organisation
 * itself says that the website is its own, so a proof does not show which organisation it is.
 */
export function hostToProve({
  profile,
  website: requestWebsite,
}: HostClaim): Result<{ host: string; website: string; ownWord: boolean }, { why: string }> {
  const website = profile === null ? requestWebsite : profile.website;
  if (website === null || website === "") {
    return fail({ why: `the ${profile === null ? "registration" : "profile"} names no website` });
  }
  const websiteSource = profile === null ? "organisation" : namedBy(profile.provenance["website"]);
  if (websiteSource !== null && websiteSource !== "organisation")
    return fail({ why: strangers[websiteSource] });
  const host = websiteHost(website);
  if (host === "") return fail({ why: "the website names no public host" });
  if (isSharedHost(host)) return fail({ why: `many organisations have their page at ${host}` });
  return ok({ host, website, ownWord: websiteSource === "organisation" });
}

const strangers: Record<Exclude<UnvouchedSource, "organisation">, string> = {
  // Two ids of one agent can put a website into an empty profile.
  consensus: "the website came from agents",
  correction: "the website came from a correction, which anyone can send",
};

/**
 * Whether a mailbox proves control of this host: it is at exactly this host, which is no mailbox provider, and the website
 * is the host's root. Below a path, someone else may assign the addresses.
 */
export function provesHost(email: string, { host, website }: { host: string; website: string }) {
  const mailHost = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  const { pathname, search } = new URL(comparedWebsite(website));
  const isRoot = pathname === "/" && search === "";
  return isRoot && bareHost(mailHost) === host && !isMailboxProvider(host);
}

/** A host without "www.". */
export const bareHost = (host: string): string => websiteHost(`https://${host}`);

/** Hosts where anyone can get an address, which says nothing about an organisation. */
const freeMailHosts: ReadonlySet<string> = new Set(hosts.free_mail);

/** The kind of an e-mail address's host: the organisation's own site, a free provider, a disposable one, or another. */
type EmailHost = "own_site" | "free_mail" | "disposable" | "other";

export function emailHost(email: string, website: string | null): EmailHost {
  const host = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  if (isDisposable(host)) return "disposable";
  if (freeMailHosts.has(host)) return "free_mail";
  const site = website === null ? "" : linkHost(website);
  if (site === "" || isSharedHost(site)) return "other";
  const isSame = host === site || host.endsWith(`.${site}`) || site.endsWith(`.${host}`);
  return isSame ? "own_site" : "other";
}

/** Whether anyone can get an address at this host. */
const isMailboxProvider = (host: string): boolean => freeMailHosts.has(host) || isDisposable(host);

/** Whether a host, or one above it, provides disposable addresses. The list comes from mailchecker. */
function isDisposable(host: string): boolean {
  const labels = host.split(".");
  return labels.some(
    (_, at) => at < labels.length - 1 && disposableHosts().has(labels.slice(at).join(".")),
  );
}

/** Loaded on first use: it is long, and most processes do not need it. */
const disposableHosts = (): ReadonlySet<string> =>
  (require("mailchecker") as typeof mailchecker).blacklist();
