import { expect, test } from "bun:test";
import { join } from "node:path";
import { aNonprofit } from "../support/records.ts";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { aDataFolder } from "#test/support/data-folder.ts";

/** Promise 3 says 10,000 over two processes: ALMONER_FULL_TESTS=1 runs them all, else fewer. */
const perProcess = isFull ? 5_000 : 240;
const profiles = 8;

test("two processes, many submissions: one application and one change row per field", async () => {
  // One field holds a value beforehand: it must never be overwritten.
  const nonprofits = Array.from({ length: profiles }, (_, at) =>
    aNonprofit({ city: at === 0 ? "Taken" : null }),
  );
  const { databaseUrl: url, slugs, rows: ask, close } = await aDataFolder(nonprofits);
  const child = join(import.meta.dirname, "../support/enrich-child.ts");
  const children = ["left", "right"].map((name) =>
    Bun.spawn([process.execPath, child, url, name, String(perProcess), slugs.join(",")], {
      stdout: "pipe",
      stderr: "inherit",
    }),
  );
  const reports = await Promise.all(
    children.map(
      async (one) =>
        JSON.parse(await new Response(one.stdout).text()) as { said: number; busy: number },
    ),
  );
  expect(await Promise.all(children.map((one) => one.exited))).toEqual([0, 0]);
  const fields = profiles * 5 - 1;
  const applied =
    await ask(`SELECT nonprofit_id, field, count(DISTINCT normalised_value) AS distinct_values, count(*) AS agents
    FROM submissions WHERE status = 'applied' GROUP BY nonprofit_id, field`);
  expect(applied).toHaveLength(fields);
  expect(applied.every((row) => row["distinct_values"] === 1 && row["agents"] === 2)).toBe(true);
  const changed = await ask(
    "SELECT nonprofit_id, fields, count(*) AS changes FROM changes WHERE origin = 'consensus' GROUP BY nonprofit_id, fields",
  );
  expect(changed).toHaveLength(fields);
  expect(changed.every((row) => row["changes"] === 1)).toBe(true);
  // What is live is what was applied, no one lost is pending, and the value that was there is there.
  const live =
    await ask(`SELECT count(*) AS count FROM submissions AS s JOIN nonprofits AS n ON n.id = s.nonprofit_id
    WHERE s.status = 'applied' AND s.value = CASE s.field WHEN 'website' THEN n.website WHEN 'city' THEN n.city
      WHEN 'region' THEN n.region WHEN 'founded_year' THEN n.founded_year ELSE n.contact_email END`);
  expect(live[0]?.["count"]).toBe(fields * 2);
  expect(
    await ask("SELECT id FROM submissions WHERE status = 'pending' AND audit_only = 0"),
  ).toEqual([]);
  expect(await ask("SELECT * FROM pending_fields")).toEqual([]);
  expect(await ask("SELECT id FROM nonprofits WHERE city = 'Taken'")).toHaveLength(1);
  // Everyone was answered, each application was said once, and the counters are right.
  expect(reports.map(({ busy }) => busy)).toEqual([0, 0]);
  expect(reports.reduce((sum, { said }) => sum + said, 0)).toBe(fields);
  const counts = await ask(
    "SELECT (SELECT sum(count) FROM enrichment_counts WHERE name LIKE 'status:%') AS total, (SELECT count FROM enrichment_counts WHERE name = 'status:applied') AS applied, (SELECT sum(applied) FROM agents) AS credit",
  );
  expect(counts[0]).toMatchObject({
    total: 2 * perProcess,
    applied: 2 * fields,
    credit: 2 * fields,
  });
  measured(`${shown(2 * perProcess)} submissions, ${fields} fields, each applied once`);
  close();
});
