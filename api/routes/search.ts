import { Elysia } from "elysia";
import { searchLimitDefault, searchLimitMax } from "#content/shapes/search.ts";
import type { Parts } from "../parts.ts";
import { queryOf, refuseParameter } from "../query.ts";

type Needed = Pick<Parts, "search" | "activity">;

/** GET /api/search. */
export const searchRoutes = ({ search, activity }: Needed) =>
  new Elysia().get("/api/search", async ({ request }) => {
    const query = queryOf(request.url);
    const limit = query.limit({ fallback: searchLimitDefault, max: searchLimitMax });
    const offset = query.offset();
    if (!limit.ok) return refuseParameter(limit.failure);
    if (!offset.ok) return refuseParameter(offset.failure);
    activity.count("query:search");
    const { answer } = await search.find({
      q: query.text("q"),
      cause: query.text("cause"),
      country: query.text("country"),
      ghd_aligned: query.flag("ghd_aligned"),
      limit: limit.value,
      offset: offset.value,
    });
    return answer;
  });
