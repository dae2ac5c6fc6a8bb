import { expect, test } from "bun:test";
import type { InStatement } from "@libsql/client";
import { listedInScope, recordsInScopes } from "#content/register/import-store.ts";
import { type Queryable, openStore } from "#content/store/open.ts";

// Each page of a walk through a million organisations would sort all that come after it.
test("whoever looks through a part of a register walks along an index, and sorts nothing", async () => {
  using store = await openStore({ url: ":memory:" });
  const steps: string[] = [];
  const explained: Queryable = {
    db: store.db,
    raw: {
      execute: async (asked: InStatement) => {
        const { sql, args = [] } = typeof asked === "string" ? { sql: asked } : asked;
        const { rows } = await store.raw.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args });
        steps.push(...rows.map((row) => String(row["detail"])));
        return store.raw.execute(asked);
      },
    },
  };
  expect(await listedInScope(explained, "irs-bmf", "NV", 0, 10)).toEqual([]);
  expect(await recordsInScopes(explained, "irs-bmf", ["NV"], "", 10)).toEqual([]);
  expect(steps).toContainEqual(expect.stringContaining("nonprofits_by_register"));
  expect(steps.filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
});
