import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import type { Cell } from "#content/contract/reconciliation.ts";

/** There is one type: all that the directory holds. */
export const type = { id: "nonprofit", name: "Nonprofit" } as const;

type Property = {
  id: string;
  name: string;
  description: string;
  valueOf: (one: NonprofitDetail) => string | number | null | readonly string[];
};

/** What can be fetched of a nonprofit; by the first four names are matched, too. */
export const properties: readonly Property[] = [
  {
    id: "org_id",
    name: "Register number (org-id)",
    description: "To match: any usual spelling, such as 53-0196605. It decides alone.",
    valueOf: ({ identifiers }) => identifiers,
  },
  {
    id: "country",
    name: "Country",
    description: "To match: English name or ISO 3166 code",
    valueOf: ({ country }) => country,
  },
  {
    id: "region",
    name: "State, province or region",
    description: "To match: as registers write it",
    valueOf: ({ region }) => region,
  },
  {
    id: "city",
    name: "City",
    description: "To match: letter case and accents do not matter",
    valueOf: ({ city }) => city,
  },
  ...plain("name", "Name"),
  ...plain("website", "Website"),
  ...plain("tagline", "Tagline"),
  ...plain("mission", "Mission"),
  ...plain("donation_url", "Donation page"),
  ...plain("founded_year", "Founded in"),
  ...plain("beneficiaries_per_year", "People reached in a year"),
  ...plain("annual_budget_usd", "Annual budget in US dollars"),
  ...plain("status", "Status here", "listed, claimed or withdrawn"),
  ...plain("usdc_wallet", "USDC wallet", "On Solana"),
  {
    id: "causes",
    name: "Causes",
    description: "Their ids",
    valueOf: ({ causes }) => causes.map(({ id }) => id),
  },
];

type PlainField = {
  [Name in keyof NonprofitDetail]: NonprofitDetail[Name] extends string | number | null | undefined
    ? Name
    : never;
}[keyof NonprofitDetail];

function plain(id: PlainField & string, name: string, description = ""): Property[] {
  return [{ id, name, description, valueOf: (one) => one[id] ?? null }];
}

/** The values of a property as data extension writes them; none for what is unknown. */
export function cellsOf(one: NonprofitDetail, id: string): Cell[] {
  const value = properties.find((property) => property.id === id)?.valueOf(one) ?? [];
  return [value].flat().map((each) => {
    if (typeof each === "string") return { str: each };
    return Number.isInteger(each) ? { int: each } : { float: each };
  });
}
