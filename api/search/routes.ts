import { Elysia } from "elysia";
import { searchLimitDefault, searchLimitMax } from "#content/contract/search.ts";
import { isAskedByTool } from "#api/http/client.ts";
import type { Context } from "#api/context.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";

type Needed = Pick<Context, "search" | "activity" | "log">;

/** GET /api/search. */
export const searchRoutes = ({ search, activity, log }: Needed) =>
  new Elysia().get("/api/search", async ({ request }) => {
    const query = queryOf(request.url);
    const limit = query.limit({ fallback: searchLimitDefault, max: searchLimitMax });
    const offset = query.offset();
    if (!limit.ok) return refuseParameter(limit.failure);
    if (!offset.ok) return refuseParameter(offset.failure);
    activity.count(isAskedByTool(request) ? "query:mcp" : "query:search");
    const asked = {
      q: query.text("q"),
      cause: query.text("cause"),
      country: query.text("country"),
      ghd_aligned: query.flag("ghd_aligned"),
      limit: limit.value,
      offset: offset.value,
    };
    log.debug({ asked }, "search");
    return search.find(asked);
  });
