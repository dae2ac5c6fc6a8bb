import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { Refused } from "#api/http/problem.ts";
import type { Finding } from "#content/contract/form-pages.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { SearchAnswer, type SearchQuery, unfiltered } from "#content/contract/search.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { slugIn } from "#content/nonprofit/slug.ts";
import { toDetail } from "#content/nonprofit/wire.ts";

const decoder = new TextDecoder();

/** The same answer as a program gets, so that people and programs never see two. */
export const searched = async (
  { search }: Pick<Context, "search">,
  query: SearchQuery,
): Promise<z.output<typeof SearchAnswer>> =>
  SearchAnswer.parse(JSON.parse(decoder.decode((await search.find(query)).body)));

const foundMax = 10;

/** What a form's own search finds: ten profiles by name, number or place. Without words it has not searched. */
export async function foundFor(
  context: Pick<Context, "search" | "activity">,
  q: string | null,
): Promise<Finding> {
  if (q === null) return { step: "find", q, total: 0, found: [] };
  context.activity.count("query:search");
  const { total, nonprofits } = await searched(context, {
    ...unfiltered,
    q,
    limit: foundMax,
    offset: 0,
  });
  return { step: "find", q, total, found: nonprofits };
}

/** The address of a profile that somebody wrote in the place of words; null for words. */
export const addressIn = (q: string | null): string | null =>
  q === null || slugIn(q) === q ? null : q;

/**
 * The profile that a form is about, by its slug or its address; of one that was merged, the one in its place. Throws Refused:
 * 404 where there is none, 410 where it is withdrawn.
 */
export async function profileFor(
  { store, config }: Pick<Context, "store" | "config">,
  named: string,
): Promise<NonprofitDetail> {
  const first = await recordBySlug(store, slugIn(named));
  const record = first?.merged_into ? await recordBySlug(store, first.merged_into) : first;
  if (record === null) throw new Refused({ ...nonprofitNotFound, code: "nonprofit_not_found" });
  if (record.status === "withdrawn") {
    const detail = "This nonprofit is withdrawn: its profile takes no claims and no corrections.";
    throw new Refused({ status: 410, code: "nonprofit_withdrawn", detail });
  }
  return toDetail(record, config.baseUrl);
}

/** The same; undefined where there is none, because the refusal of the form says so already. */
export async function profileOfForm(
  context: Pick<Context, "store" | "config">,
  named: string,
): Promise<NonprofitDetail | undefined> {
  try {
    return await profileFor(context, named);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}
