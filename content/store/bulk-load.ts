import type { Transaction } from "@libsql/client";

const bulkTables = ["nonprofits", "listings"];

/**
 * Runs work that fills these empty tables. To make each row faster, non-unique indexes are built afterwards in one go, and
 * so are the full-text indexes that triggers otherwise maintain.
 */
export async function inBulk<Value>(
  { raw }: { readonly raw: Transaction },
  work: () => Promise<Value>,
): Promise<Value> {
  const { rows } = await raw.execute({
    sql: `
      SELECT type, name, sql
      FROM sqlite_schema
      WHERE tbl_name IN (SELECT value FROM json_each(?))
        AND (type = 'trigger' OR (type = 'index' AND sql LIKE 'CREATE INDEX%'))
      ORDER BY rowid`,
    args: [JSON.stringify(bulkTables)],
  });
  for (const { type, name } of rows) await raw.execute(`DROP ${String(type)} ${String(name)}`);
  const value = await work();
  for (const [index, columns] of Object.entries(fullText)) await fill(raw, index, columns);
  for (const { sql } of rows) await raw.execute(String(sql));
  return value;
}

/** Columns of the full-text indexes, and the expressions that the triggers store there. */
const fullText = {
  search_index: [
    "name, tagline, mission, description, facets",
    "name, tagline, mission, description, search_facets",
  ],
  search_words: [
    "words",
    "concat_ws(' ', name, coalesce(tagline, ''), coalesce(mission, ''), coalesce(description, ''))",
  ],
} as const;

/** FTS5 takes ordered rows into few segments, merged once. Then its defaults are restored (fts5_config.c). */
async function fill(raw: Transaction, index: string, [columns, values]: readonly [string, string]) {
  const set = (hashsize: number, automerge: number, crisismerge: number) =>
    raw.executeMultiple(
      Object.entries({ hashsize, automerge, crisismerge })
        .map(
          ([name, value]) => `INSERT INTO ${index} (${index}, rank) VALUES ('${name}', ${value});`,
        )
        .join("\n"),
    );
  await set(2 ** 23, 0, 1_000);
  // Without LIMIT, SQLite ignores the order of a subquery.
  await raw.execute(`
    INSERT INTO ${index} (rowid, ${columns})
    SELECT place, ${values}
    FROM (SELECT place, nonprofit_id FROM search_places ORDER BY place LIMIT -1) AS p
    CROSS JOIN nonprofits AS n ON n.id = p.nonprofit_id`);
  await raw.execute(`INSERT INTO ${index} (${index}) VALUES ('optimize')`);
  await set(2 ** 20, 4, 16);
}
