import type { WayToGive } from "#content/contract/nonprofit.ts";
import { namedBy } from "./provenance.ts";
import type { NonprofitRecord } from "./record.ts";
import { registerById } from "./register-facts.ts";
import { safeLink } from "./safe-link.ts";

/** A service that takes gifts for organisations by their number: `url` has {number} where that goes. */
export type GivingLink = Omit<WayToGive, "kind"> & {
  /** The beginning of the org-ids that it knows, for example US-EIN. */
  scheme: string;
};

type Addresses = Pick<NonprofitRecord, "donation_url" | "website" | "provenance"> & {
  register_records: readonly { as_of: string }[];
};
type Giving = Addresses &
  Pick<NonprofitRecord, "slug" | "status" | "usdc_wallet" | "registrations">;

/**
 * How to give to a nonprofit, the best way first; none to a withdrawn one. Its own donation page, or else its website, is
 * among them only where the organisation, a register, a recent filing or the operator gave the address.
 */
export function waysToGive(
  nonprofit: Giving,
  { baseUrl, givingLinks = [] }: { baseUrl: string; givingLinks?: readonly GivingLink[] },
): WayToGive[] {
  if (nonprofit.status === "withdrawn") return [];
  const orgIds = nonprofit.registrations.flatMap(({ org_id }) => org_id ?? []);
  const services = givingLinks.flatMap(({ scheme, url, ...link }): WayToGive[] => {
    const orgId = orgIds.find((one) => one.startsWith(`${scheme}-`));
    const number = encodeURIComponent(orgId?.slice(scheme.length + 1) ?? "");
    return orgId === undefined
      ? []
      : [{ kind: "service", ...link, url: url.replace("{number}", number) }];
  });
  return [
    ...ownPage(nonprofit),
    ...(isWallet(nonprofit.usdc_wallet)
      ? [{ ...usdc, url: `${baseUrl}/donate/${nonprofit.slug}` }]
      : []),
    ...services,
  ];
}

function ownPage(nonprofit: Addresses): WayToGive[] {
  for (const { field, kind, label } of ownAddresses) {
    const url = safeLink(nonprofit[field]);
    if (url !== null && isVouchedFor(nonprofit, field)) return [{ kind, label, url }];
  }
  return [];
}

const ownAddresses = [
  { field: "donation_url", kind: "donation_page", label: "Give on its website" },
  { field: "website", kind: "website", label: "Its website: look for Donate there" },
] as const;

const usdc = {
  kind: "usdc",
  label: "Give USDC, a digital dollar, straight to its wallet",
  currency: "USDC",
  fee: "None to this directory; the network's is a cent or less",
  tax_receipt: false,
} as const;

/**
 * The address that others than the organisation, a register or the operator named, where it would be a better way than
 * those that are known: people see it as a plain link with its source. Null for none.
 */
export function unvouchedAddress(nonprofit: Addresses): "donation_url" | "website" | null {
  for (const { field } of ownAddresses) {
    if (safeLink(nonprofit[field]) === null) continue;
    return isVouchedFor(nonprofit, field) ? null : field;
  }
  return null;
}

/** Whether a text looks like the address of a wallet: the letters of base58, 32 bytes. */
export const isWallet = (text: string | null | undefined): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text ?? "");

/** Whether one of these ways takes a gift: on its website a donor has to look for one first. */
export const canBeGivenTo = (ways: readonly WayToGive[]): boolean =>
  ways.some(({ kind }) => kind !== "website");

const filingValidYears = 3;

/** Two agents or a correction can be one stranger, and what a filing said years ago may be another's by now. */
function isVouchedFor(nonprofit: Addresses, field: "donation_url" | "website"): boolean {
  const source = nonprofit.provenance[field];
  if (source === undefined) return false;
  if (source.set_by !== "register") return [null, "organisation"].includes(namedBy(source));
  if (registerById(source.source)?.fields?.length !== 0) return true;
  // Not by today's date: a published page must not become wrong by itself.
  const asOf = new Date(
    nonprofit.register_records
      .map(({ as_of }) => as_of)
      .toSorted()
      .at(-1) ?? 0,
  );
  asOf.setUTCFullYear(asOf.getUTCFullYear() - filingValidYears);
  return source.applied_at >= asOf.getTime();
}
