import { z } from "zod";
import { named } from "./shape.ts";
import { NonprofitSummary } from "./nonprofit.ts";

/** What a search asks for. A cause or country that no one knows is not an error: nothing matches it. */
export type SearchQuery = {
  q: string | null;
  cause: string | null;
  country: string | null;
  ghd_aligned: boolean;
  /** 1 to 50. */
  limit: number;
  /** From 0. */
  offset: number;
};

export const searchLimitMax = 50;
export const searchLimitDefault = 20;

export const SearchEcho = named("SearchEcho", {
  q: z.string().nullable().describe("Words looked for in name, tagline, mission and description"),
  cause: z.string().nullable().describe("Cause id, as given"),
  country: z.string().nullable().describe("Country name or code, as given"),
  ghd_aligned: z.boolean().describe("True: only profiles aligned with global health"),
});

/** The spec shows this answer in two shapes; one object is both: `nonprofits` and `results` are the same array. */
export const SearchAnswer = named("SearchAnswer", {
  query: SearchEcho,
  count: z.int().min(0).describe("Items in this page"),
  total: z.int().min(0).describe("All nonprofits that match, counted exactly"),
  limit: z.int().min(1).max(searchLimitMax),
  offset: z.int().min(0),
  next: z.string().nullable().describe("Absolute URL of the next page"),
  prev: z.string().nullable().describe("Absolute URL of the page before"),
  nonprofits: z.array(NonprofitSummary),
  results: z.array(NonprofitSummary).describe("The same array as nonprofits"),
});
export type SearchAnswer = z.infer<typeof SearchAnswer>;
