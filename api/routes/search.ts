import { Elysia } from "elysia";
import { searchLimitDefault, searchLimitMax } from "#content/shapes/search.ts";
import type { Parts } from "../parts.ts";
import { Prepared } from "../prepared.ts";
import { queryOf, refuseParameter } from "../query.ts";
import type { FoundPage } from "../search/runner.ts";
import { searchAnswer } from "../verbs/search.ts";

type Needed = Pick<Parts, "search" | "config" | "activity">;

/** GET /api/search. */
export const searchRoutes = ({ search, config, activity }: Needed) => {
  // The engine answers the same page with the same object, so its bytes are made and compressed once.
  const prepared = new WeakMap<FoundPage, Prepared>();
  return new Elysia().get("/api/search", async ({ request }) => {
    const query = queryOf(request.url);
    const limit = query.limit({ fallback: searchLimitDefault, max: searchLimitMax });
    const offset = query.offset();
    if (!limit.ok) return refuseParameter(limit.failure);
    if (!offset.ok) return refuseParameter(offset.failure);
    activity.count("query:search");
    const asked = {
      q: query.text("q"),
      cause: query.text("cause"),
      country: query.text("country"),
      ghd_aligned: query.flag("ghd_aligned"),
      limit: limit.value,
      offset: offset.value,
    };
    const page = await search.find(asked);
    const known = prepared.get(page);
    if (known !== undefined) return known;
    const answer = new Prepared(searchAnswer(asked, page, config.baseUrl), "application/json");
    prepared.set(page, answer);
    return answer;
  });
};
