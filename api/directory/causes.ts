import { Elysia } from "elysia";
import { causeList } from "#content/nonprofit/overview.ts";
import type { Parts } from "#api/context.ts";
import { preparedJson } from "#api/http/encoded-body.ts";

/** GET /api/causes. */
export const causeRoutes = ({ store, kept }: Pick<Parts, "store" | "kept">) =>
  new Elysia().get("/api/causes", () =>
    kept.get("causes", async () => {
      const value = preparedJson(await causeList(store));
      return {
        value,
        bytes: value.body.byteLength,
        staleBy: ({ moved_lists }) => moved_lists.some((list) => list.startsWith("cause:")),
      };
    }),
  );
