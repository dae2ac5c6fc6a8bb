import { Elysia } from "elysia";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { directoryNumbers } from "#content/operation/directory-store.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import type { Context } from "#api/context.ts";
import { type EncodedBody, encodedJson } from "#api/http/encoded-body.ts";

/** GET /api/stats: the numbers of the directory with the counters as of now. */
export const statsRoutes = ({
  store,
  cache,
  activity,
}: Pick<Context, "store" | "cache" | "activity">) => {
  let last: { of: readonly unknown[]; answer: EncodedBody } | null = null;
  return new Elysia().get("/api/stats", async () => {
    const numbers = await cache.get("stats", async () => ({
      value: await directoryNumbers(store),
      bytes: 200,
      staleBy,
    }));
    const counters = await activity.counters();
    // Both are the same objects as long as nothing new was counted.
    if (last?.of[0] !== numbers || last.of[1] !== counters) {
      const answer = encodedJson({ ...numbers, ...counters }, freshCacheControl);
      last = { of: [numbers, counters], answer };
    }
    return last.answer;
  });
};

/** What counts nonprofits, countries and people: someone came, went or moved by reach, claim or country. */
const staleBy = ({ moved_lists, fields }: Change): boolean =>
  moved_lists.includes("all") || fields.includes("country_code") || fields.includes("status");
