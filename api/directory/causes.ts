import { Elysia } from "elysia";
import { causeList } from "#content/nonprofit/list-store.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";

/** GET /api/causes. */
export const causeRoutes = ({ store, cache }: Pick<Context, "store" | "cache">) =>
  new Elysia().get("/api/causes", () =>
    cache.get("causes", async () => {
      const value = encodedJson(await causeList(store));
      return {
        value,
        bytes: value.body.byteLength,
        staleBy: ({ moved_lists }) => moved_lists.some((list) => list.startsWith("cause:")),
      };
    }),
  );
