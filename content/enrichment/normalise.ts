import { createHash } from "node:crypto";
import { type EnrichableField, fieldTypeOf } from "#content/contract/enrichment.ts";
import { comparedWebsite } from "#content/nonprofit/website.ts";

/** Text in one Unicode form, with single spaces. */
const prose = (raw: string): string => raw.normalize("NFC").replaceAll(/\s+/gu, " ").trim();

/** City and region keep their letter case: the contract folds only commas and spaces. */
const place = (raw: string): string => prose(raw).replace(/[\s,]+$/u, "");

/** The first year of four digits in a text; "" for none. */
const year = (raw: string): string => /(?<!\d)\d{4}(?!\d)/.exec(raw)?.[0] ?? "";

/** Lower case; the domain of an international address in punycode. "" for what has no domain. */
const email = (raw: string): string => {
  const text = raw.trim().toLowerCase();
  const at = text.lastIndexOf("@");
  const host = at < 1 ? null : URL.parse(`https://${text.slice(at + 1)}/`);
  if (host === null || host.pathname !== "/" || host.port !== "" || host.search !== "") return "";
  return `${text.slice(0, at)}@${host.hostname}`;
};

/**
 * The comparison form of each field's value: two agents agree when these are equal. Stable (normalising twice changes
 * nothing) and "" when nothing usable is left. Never shown. Source: spec, "Normalisation applied before comparing values".
 */
export const normalise: Readonly<Record<EnrichableField, (raw: string) => string>> = {
  website: comparedWebsite,
  contact_email: email,
  city: place,
  region: place,
  founded_year: year,
  mission: prose,
  description: prose,
  tagline: prose,
  programme: prose,
  impact_metric: prose,
};

/**
 * The comparison form of what a profile holds. A register may hold what no agent could send, a year of three digits for
 * instance: the field is not empty for that, so it is compared as it stands.
 */
export const comparedLive = (field: EnrichableField, live: string): string =>
  comparedValue(field, live) || live;

const indexedLengthMax = 100;

/**
 * What is stored to find equal values by: the comparison form, or the digest of a long prose text, so that an index of
 * texts stays small.
 */
export function comparedValue(field: EnrichableField, value: string): string {
  const compared = normalise[field](value);
  if (fieldTypeOf(field) === "structured" || compared.length <= indexedLengthMax) return compared;
  return `sha256:${createHash("sha256").update(compared).digest("hex")}`;
}
