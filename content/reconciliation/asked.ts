import type { DraftQuery, Query } from "#content/contract/reconciliation.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { readOrgId } from "#content/register/org-id.ts";
import { type Place, places, type Wanted } from "./match.ts";

/** One query of whatever version, understood. */
export type Asked = Wanted & {
  /** Slugs, any of which is the one. */
  ids: string[];
  /** Numbers of registers, in org-id form; any of them is the one's. */
  orgIds: string[];
  /** Places that a candidate must have. */
  required: Place[];
  limit: number;
};

type Said = { of: string; values: string[]; required?: boolean };

/** A query of version 0.2. A name that is written like a slug may be one. */
export const askedBy = ({ query = "", properties, limit }: Query): Asked =>
  asked(
    [
      { of: "name", values: [query] },
      ...properties.map(({ pid, v }) => ({ of: pid, values: textsOf(v) })),
    ],
    limit,
  );

/** A query of 1.0-draft. */
export const askedByDraft = ({ conditions, limit }: DraftQuery): Asked =>
  asked(
    conditions.map(({ matchType, propertyId = "", propertyValue, required }) => ({
      of: matchType === "property" ? propertyId : matchType,
      values: textsOf(propertyValue),
      required,
    })),
    limit,
  );

const slugLike = /^[a-z0-9]+(?:-[a-z0-9]+)+$/;

function asked(said: readonly Said[], limit: number): Asked {
  const textsFor = (of: string) =>
    said
      .flatMap((one) => (one.of === of ? one.values.map((text) => text.trim()) : []))
      .filter(Boolean);
  const [name = ""] = textsFor("name");
  const country = countryCode(textsFor("country")[0] ?? "") ?? "";
  return {
    name,
    ids: [...textsFor("id"), ...(slugLike.test(name) ? [name] : [])],
    orgIds: textsFor("org_id").flatMap((text) => {
      const number = readOrgId(text, country);
      return number.ok ? [number.value.org_id] : [];
    }),
    places: Object.fromEntries(places.map((place) => [place, textsFor(place)])),
    required: places.filter((place) => said.some((one) => one.of === place && one.required)),
    limit,
  };
}

type Value = string | number | boolean | { id: string };
const textsOf = (value: Value | Value[]): string[] =>
  [value].flat().map((one) => (typeof one === "object" ? one.id : String(one)));
