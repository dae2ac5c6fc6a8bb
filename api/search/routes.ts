import { Elysia } from "elysia";
import { directoryOperations as operations } from "#content/contract/operations/directory.ts";
import { isAskedByTool } from "#api/http/client.ts";
import type { Context } from "#api/context.ts";
import { pathOf, schemaOf } from "#api/http/route.ts";

type Needed = Pick<Context, "search" | "activity" | "log">;

/** GET /api/search. */
export const searchRoutes = ({ search, activity, log }: Needed) =>
  new Elysia().get(
    pathOf(operations.searchNonprofits),
    async ({ request, query }) => {
      activity.count(isAskedByTool(request) ? "query:mcp" : "query:search");
      const asked = {
        q: query.q ?? null,
        cause: query.cause ?? null,
        country: query.country ?? null,
        ghd_aligned: query.ghd_aligned !== undefined,
        accepts: query.accepts ?? null,
        has_website: query.has_website === undefined ? null : query.has_website === "true",
        literal: query.literal !== undefined,
        limit: query.limit,
        offset: query.offset,
      };
      log.debug({ asked }, "search");
      return search.find(asked);
    },
    schemaOf(operations.searchNonprofits),
  );
