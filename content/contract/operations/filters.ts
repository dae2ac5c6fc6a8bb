import type { z } from "zod";
import { type FilterName, incomeBandIds } from "#content/contract/browse.ts";
import { withinKm } from "#content/contract/search.ts";
import { choice, filter, flag, number, yesOrNo } from "./query.ts";

/** The parameters by which lists, searches and recommendations are narrowed, on their pages and for programs. They combine. */
export const filters = {
  cause: filter(
    "cause",
    "Cause id from GET /api/causes, or none: profiles without a cause, where nothing that a register says fits one; an unknown id matches nothing",
    "education",
  ),
  country: filter(
    "country",
    "Country by its English name or ISO 3166 code (KE, KEN or 404); letter case does not matter",
    "Kenya",
  ),
  region: filter("region", "State, province or region; letter case does not matter", "Hawaii"),
  city: filter("city", "City; letter case does not matter", "Honolulu"),
  claimed: yesOrNo("claimed", "Whether the organisation has claimed its profile"),
  accepts: choice("accepts", ["usdc"], "Only those that take gifts this way", "usdc"),
  has_website: yesOrNo("has_website", "Whether a website is known"),
  income: choice(
    "income",
    incomeBandIds,
    "Yearly income that a register gives, in the register's own currency",
    "100k-1m",
  ),
  ghd_aligned: flag("ghd_aligned", "Only profiles aligned with global health and development", "1"),
} satisfies Record<FilterName, z.ZodType>;

/** What is near a place; in searches alone. */
export const nearby = {
  near: filter(
    "near",
    "Only what is near a ZIP code, a postcode or its first half, or a town (of the US, UK, Canada, Australia, New Zealand, Ireland); without q the nearest first",
    "02903",
  ),
  within_km: number(
    "within_km",
    `How far away at most: ${withinKm.default} km unless given; above ${withinKm.max} it is capped`,
    withinKm.default,
    withinKm.max,
  ),
};
