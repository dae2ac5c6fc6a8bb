import { safeLink } from "./safe-link.ts";
import type { WayToGive } from "#content/contract/nonprofit.ts";
import words from "#content/editorial/ways-to-give.json";
import { isOldFiling, isStated } from "./provenance.ts";
import type { NonprofitRecord } from "./record.ts";

/** A service that takes gifts for organisations by their number; {number} in `url` is replaced by it. */
export type GivingLink = Omit<WayToGive, "kind"> & {
  /** The prefix of the org-ids that it knows, for example US-EIN. */
  scheme: string;
};

/** The origin for absolute URLs, without a trailing slash, and the operator's giving services (default: none). */
export type GivingPlace = { baseUrl: string; givingLinks?: readonly GivingLink[] | undefined };

type OwnField = "donation_url" | "website";
type Addresses = Pick<NonprofitRecord, OwnField | "provenance" | "register_records">;

const ownWays = words.own as readonly (Omit<WayToGive, "url"> & { field: OwnField })[];

/**
 * The ways to give to a nonprofit, best first; none for a withdrawn one. Its donation page, or else its website, is included
 * only if the organisation, a register, a recent filing or the operator gave the address.
 */
export function waysToGive(
  nonprofit: Addresses & Pick<NonprofitRecord, "slug" | "status" | "usdc_wallet" | "registrations">,
  { baseUrl, givingLinks = [] }: GivingPlace,
): WayToGive[] {
  const { slug, status, usdc_wallet, registrations } = nonprofit;
  if (status === "withdrawn") return [];
  const vouchedWay = ownWays.find(({ field }) => isVouchedFor(nonprofit, field));
  const ways: WayToGive[] = [];
  if (vouchedWay !== undefined) {
    const { field, ...way } = vouchedWay;
    ways.push({ ...way, url: nonprofit[field] ?? "" });
  }
  if (isWallet(usdc_wallet)) {
    ways.push({ kind: "usdc", ...words.usdc, url: `${baseUrl}/donate/${slug}` });
  }
  const orgIds = registrations.flatMap(({ org_id }) => org_id ?? []);
  for (const { scheme, url, ...link } of givingLinks) {
    const number = orgIds.find((orgId) => orgId.startsWith(`${scheme}-`))?.slice(scheme.length + 1);
    if (number === undefined) continue;
    ways.push({
      kind: "service",
      ...link,
      url: url.replace("{number}", encodeURIComponent(number)),
    });
  }
  return ways;
}

/**
 * The field with the best address if that comes from someone other than the organisation, a register or the operator: pages
 * show it as a plain link with its source. Null if there is none.
 */
export const unvouchedAddress = (nonprofit: Addresses): OwnField | null => {
  const best = ownWays.find(({ field }) => safeLink(nonprofit[field]) !== null)?.field;
  return best === undefined || isVouchedFor(nonprofit, best) ? null : best;
};

/** Whether a text looks like a wallet address: 32 to 44 characters of base58. */
export const isWallet = (text: string | null | undefined): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text ?? "");

/** Whether any of these ways takes a gift; on a website a donor would first have to look for one. */
export const canBeGivenTo = (ways: readonly WayToGive[]): boolean =>
  ways.some(({ kind }) => kind !== "website");

/** Two agents or a correction can be one stranger, and the address in an old filing may have a new owner by now. */
function isVouchedFor(nonprofit: Addresses, field: OwnField): boolean {
  const source = nonprofit.provenance[field];
  if (source === undefined || safeLink(nonprofit[field]) === null) return false;
  if (source.set_by !== "register") return isStated(source);
  // Do not use today's date: a published page must not become wrong over time.
  const days = nonprofit.register_records.map(({ as_of }) => Date.parse(as_of));
  return !isOldFiling(source, Math.max(0, ...days));
}
