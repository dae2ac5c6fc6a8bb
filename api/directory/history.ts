import { Elysia } from "elysia";
import { historyAnswer } from "#content/nonprofit/changes-store.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { problem } from "#api/http/problem.ts";

/** GET /api/nonprofits/{slug}/history: the same bytes as the bundle's file, but as of now. */
export const historyRoutes = ({ store }: Pick<Context, "store">) =>
  new Elysia().get("/api/nonprofits/:slug/history", async ({ params }) => {
    const answer = await historyAnswer(store, params.slug);
    if (answer !== null) return encodedJson(answer, freshCacheControl);
    return problem({
      status: 404,
      code: "nonprofit_not_found",
      detail: "No nonprofit has this slug.",
    });
  });
