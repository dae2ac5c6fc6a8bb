import { linkHost, safeLink } from "#content/nonprofit/website.ts";
import type { FieldProvenance } from "#content/contract/nonprofit.ts";
import { joined } from "./words.ts";

/** Where some of the values of a profile came from; values of one origin share a line. */
export type Origin = {
  fields: string;
  source: string;
  link: { href: string; host: string } | null;
  day: string;
};

const fieldNames: Record<string, string> = {
  annual_budget_usd: "annual budget",
  beneficiaries_per_year: "people reached in a year",
  contact_email: "contact e-mail address",
  country_code: "country",
  donation_url: "donation page",
  founded_year: "founding year",
  ghd_aligned: "global health alignment",
  impact_metrics: "impact",
  logo_url: "logo",
  programs: "programmes",
  team_size: "team size",
  usdc_wallet: "USDC wallet",
};

/** A field's name for people. */
export const fieldName = (field: string): string => fieldNames[field] ?? field;

const sourceNames: Record<string, string> = {
  consensus: "Agreement of agents",
  operator: "The operator of this directory",
  organisation: "The organisation itself",
  "register:irs-bmf": "US Internal Revenue Service, Business Master File",
  "register:irs-990": "US Internal Revenue Service, Form 990",
  "register:irs-1023ez": "US Internal Revenue Service, Form 1023-EZ",
  "register:ukcat": "Charity registers of the United Kingdom",
  "register:acnc": "Australian Charities and Not-for-profits Commission",
  "register:sample": "Invented sample data",
  "register:ndjson": "Another copy of this directory",
};

/** Groups the provenance of a profile by origin, in the order of the fields. */
export function originsOf(provenance: Record<string, FieldProvenance>): Origin[] {
  const grouped = new Map<string, Origin>();
  for (const field in provenance) {
    const from = provenance[field];
    if (from === undefined) continue;
    const { source, source_url, agents, applied_at } = from;
    const key = `${source} ${source_url} ${agents.length === 0 ? "" : agents.join(" ")} ${applied_at}`;
    const same = grouped.get(key);
    if (same !== undefined) same.fields += `, ${fieldName(field)}`;
    else grouped.set(key, originOf(fieldName(field), from));
  }
  return [...grouped.values()];
}

function originOf(
  fields: string,
  { source, source_url, agents, applied_at }: FieldProvenance,
): Origin {
  const href = safeLink(source_url);
  const name = sourceNames[source] ?? source;
  return {
    fields,
    source: agents.length === 0 ? name : `${name}: ${joined(agents, ", ")}`,
    link: href === null ? null : { href, host: linkHost(href) },
    day: applied_at.slice(0, 10),
  };
}
