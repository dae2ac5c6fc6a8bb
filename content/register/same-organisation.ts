import type { LinkSource } from "#content/contract/nonprofit.ts";
import { isSameName } from "#content/nonprofit/near-name.ts";
import { siteKey } from "#content/nonprofit/website.ts";
import { schemeOf } from "./org-id.ts";

/** What is known of an organisation that may also be in another register. */
export type Registrations = {
  /** Its org-ids, for example GB-CHC-1089464; at least one. */
  org_ids: readonly string[];
  /** Org-ids in other registers that its own registers name, for example GB-COH-04325234. */
  quotes: readonly string[];
  name: string;
  country_code: string | null;
  website: string | null;
};

/** Evidence found in the registers themselves. */
export type FoundBy = Exclude<LinkSource, "operator">;

/** The most profiles of one register at one host: more mean a federation, a diocese or a service. */
const atOneHostMax = 2;

/**
 * Which of the others are certainly the same organisation in another register, and why. `others` must be all with its host,
 * its numbers or a number that its registers name. Symmetric. See docs/decisions/17-one-organisation.md.
 */
export function sameOrganisations<Other extends Registrations>(
  profile: Registrations,
  others: readonly Other[],
): { other: Other; source: FoundBy }[] {
  const everyone = [profile, ...others];
  const candidates = others.flatMap((other) => {
    const source = linkSource(profile, other, everyone);
    return source === null ? [] : [{ other, source }];
  });
  // Two profiles of one register cannot both be it, nor can one profile match two of this register.
  const isAmbiguous = ({ other }: (typeof candidates)[number]) =>
    candidates.some((next) => next.other !== other && sharesRegister(next.other, other)) ||
    others.some(
      (next) =>
        next !== other &&
        sharesRegister(next, profile) &&
        linkSource(next, other, everyone) !== null,
    );
  return candidates.filter((link) => !isAmbiguous(link));
}

function linkSource(
  profile: Registrations,
  other: Registrations,
  everyone: readonly Registrations[],
): FoundBy | null {
  if (sharesRegister(profile, other) || !inOneCountry(profile, other)) return null;
  const host = siteHost(profile.website);
  const sameSite = host !== null && host === siteHost(other.website);
  const sameName = isSameName(profile.name, other.name);
  if ((sameSite || sameName) && quotedNumber(profile, other, everyone)) return "same_number";
  if (!sameSite || !sameName) return null;
  const there = everyone.filter(({ website }) => siteHost(website) === host);
  return isCrowded(there) ? null : "same_site_and_name";
}

const sharesRegister = (profile: Registrations, other: Registrations): boolean =>
  profile.org_ids.some((orgId) => other.org_ids.some((its) => schemeOf(its) === schemeOf(orgId)));

/** Not in one town: a register of Scotland has the office there. */
const inOneCountry = (profile: Registrations, other: Registrations): boolean =>
  profile.country_code !== null && profile.country_code === other.country_code;

/** One names the other's number, or both name the same number of a third register. */
function quotedNumber(
  profile: Registrations,
  other: Registrations,
  everyone: readonly Registrations[],
) {
  if (profile.quotes.some((number) => other.org_ids.includes(number))) return true;
  if (other.quotes.some((number) => profile.org_ids.includes(number))) return true;
  return profile.quotes.some(
    (number) =>
      other.quotes.includes(number) &&
      !isCrowded(
        everyone.filter(({ quotes }) => quotes.includes(number)),
        1,
      ),
  );
}

/** Whether one register has more than `most` of these. */
function isCrowded(some: readonly Registrations[], most = atOneHostMax): boolean {
  const schemes = some.flatMap(({ org_ids }) => [...new Set(org_ids.map(schemeOf))]);
  return schemes.some((scheme) => schemes.filter((other) => other === scheme).length > most);
}

/** The host of a website of its own; null for a shared host, where many have a page. */
export const siteHost = (website: string | null): string | null =>
  website === null ? null : (siteKey(website)?.below ?? null);

/**
 * The company number in an org-id's row, in the form of Companies House; null if invalid. Registers write it as a decimal
 * fraction, without leading zeros, without NI for Northern Ireland, or use placeholders like 12345678.
 */
export function companyNumber(raw: string, orgId: string): string | null {
  const text = raw.replaceAll(/\s+/g, "").replace(/\.0$/, "").toUpperCase();
  const [, letters = "", digits] = /^([A-Z]{2})?(\d{3,8})$/.exec(text) ?? [];
  if (digits === undefined || /^(\d)\1+$/.test(digits) || digits === "12345678") return null;
  if (letters !== "") return digits.length === 6 ? text : null;
  const isNorthern = schemeOf(orgId) === "GB-NIC" && digits.length <= 6;
  return isNorthern ? `NI${digits.padStart(6, "0")}` : digits.padStart(8, "0");
}

/** Two profiles, the one that stays first: a claimed one, else the one with the lower number. */
export function inOrderOfStaying<
  Member extends Pick<Registrations, "org_ids"> & { belongs: boolean },
>(profile: Member, other: Member): [kept: Member, gone: Member] {
  if (profile.belongs !== other.belongs)
    return profile.belongs ? [profile, other] : [other, profile];
  const least = ({ org_ids }: Member) => org_ids.toSorted()[0] ?? "~";
  return least(profile) < least(other) ? [profile, other] : [other, profile];
}
