import { safeLink } from "./safe-link.ts";
import type { WayToGive } from "#content/contract/nonprofit.ts";
import words from "#content/editorial/ways-to-give.json";
import { isOldFiling, isStated } from "./provenance.ts";
import type { NonprofitRecord } from "./record.ts";

/** A service that takes gifts for organisations by their number: `url` has {number} where that goes. */
export type GivingLink = Omit<WayToGive, "kind"> & {
  /** The beginning of the org-ids that it knows, for example US-EIN. */
  scheme: string;
};

/** Origin in absolute URLs, without a trailing slash, and the services that the operator configured; absent: none. */
export type GivingPlace = { baseUrl: string; givingLinks?: readonly GivingLink[] | undefined };

type OwnField = "donation_url" | "website";
type Addresses = Pick<NonprofitRecord, OwnField | "provenance" | "register_records">;

const ownWays = words.own as readonly (Omit<WayToGive, "url"> & { field: OwnField })[];

/**
 * How to give to a nonprofit, the best way first; none to a withdrawn one. Its own donation page, or else its website, is
 * among them only where the organisation, a register, a recent filing or the operator gave the address.
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
 * The field whose address others than the organisation, a register or the operator named, where no better one is known:
 * people see it as a plain link with its source. Null for none.
 */
export const unvouchedAddress = (nonprofit: Addresses): OwnField | null => {
  const best = ownWays.find(({ field }) => safeLink(nonprofit[field]) !== null)?.field;
  return best === undefined || isVouchedFor(nonprofit, best) ? null : best;
};

/** Whether a text looks like the address of a wallet: the letters of base58, 32 bytes. */
export const isWallet = (text: string | null | undefined): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text ?? "");

/** Whether one of these ways takes a gift: on its website a donor has to look for one first. */
export const canBeGivenTo = (ways: readonly WayToGive[]): boolean =>
  ways.some(({ kind }) => kind !== "website");

/** Two agents or a correction can be one stranger, and what a filing said years ago may be another's by now. */
function isVouchedFor(nonprofit: Addresses, field: OwnField): boolean {
  const source = nonprofit.provenance[field];
  if (source === undefined || safeLink(nonprofit[field]) === null) return false;
  if (source.set_by !== "register") return isStated(source);
  // Not by today's date: a published page must not become wrong by itself.
  const days = nonprofit.register_records.map(({ as_of }) => Date.parse(as_of));
  return !isOldFiling(source, Math.max(0, ...days));
}
