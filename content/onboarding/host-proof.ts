import { linkHost } from "#content/nonprofit/safe-link.ts";
import type * as mailchecker from "mailchecker";
import hosts from "#content/editorial/hosts.json";
import type { OnboardingType, ProvenBy } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { comparedWebsite, isSharedHost, websiteHost } from "#content/nonprofit/website.ts";
import { namedBy, type UnvouchedSource } from "#content/nonprofit/provenance.ts";

/** A proof of host control counts for 30 days: hosts change hands. */
export const hostProofLifeMs = 30 * 86_400_000;

/** What a submission asks for, as far as its host matters. `profile` is null for a registration. */
export type HostClaim = {
  type: OnboardingType;
  profile: Pick<NonprofitRecord, "website" | "provenance"> | null;
  /** The website that came with the request, as the operator edited it. */
  website: string | null;
};

/** What was proven last of a submission; instants in milliseconds since 1970. */
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
 * Whether the sender has proven control of the organisation's host: of the live website, for a registration of the one
 * that it names. Asked again at approval, because the live website may have changed since the proof.
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
 * The host to prove, without "www.", and the website that names it; or why there is none. `ownWord`: no one but the
 * organisation says that the website is its own, so that a proof does not show which organisation it is.
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
  // Two ids of one agent put a website into an empty profile.
  consensus: "the website came from agents",
  correction: "the website came from a correction, which anyone can send",
};

/**
 * Whether a mailbox proves control of this host: at exactly this host, no provider of mailboxes, and the website is the
 * host's root. Below a path, someone else may give out the addresses.
 */
export function provesHost(email: string, { host, website }: { host: string; website: string }) {
  const mailHost = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  const { pathname, search } = new URL(comparedWebsite(website));
  const isRoot = pathname === "/" && search === "";
  return isRoot && bareHost(mailHost) === host && !isMailboxProvider(host);
}

/** A host without "www.". */
export const bareHost = (host: string): string => websiteHost(`https://${host}`);

/** Hosts at which anybody can have an address: one there says nothing about an organisation. */
const freeMailHosts: ReadonlySet<string> = new Set(hosts.free_mail);

/** What the host of an e-mail address says: of the organisation's own site, of anybody's, or thrown away tomorrow. */
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

/** Whether anybody can have an address at this host. */
const isMailboxProvider = (host: string): boolean => freeMailHosts.has(host) || isDisposable(host);

/** True for a host, or one above it, that hands out addresses to be thrown away. The list comes from mailchecker. */
function isDisposable(host: string): boolean {
  const labels = host.split(".");
  return labels.some(
    (_, at) => at < labels.length - 1 && disposableHosts().has(labels.slice(at).join(".")),
  );
}

/** Loaded when first asked for: it is long, and most processes never ask. */
const disposableHosts = (): ReadonlySet<string> =>
  (require("mailchecker") as typeof mailchecker).blacklist();
