import { version } from "#content/contract/base/version.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Statement } from "#content/store/query.ts";
import { mergeRules, type RegisterDraft } from "./merge.ts";
import type { Register, StagedRow } from "./stage-rows.ts";

/** 53 bits of a digest of a row and of the rules for importing it. */
const rowDigest = (register: string, { scope, payload }: StagedRow): number =>
  Number(Bun.hash.wyhash(`${version} ${mergeRules} ${register} ${scope} ${payload}`) >> 11n);

const rowsAtOnce = 10_000;

/**
 * A test whether a row was imported before, so that it would change nothing. Always false for registers with several rows
 * per organisation. Takes 8 bytes per row.
 */
export async function knownRows(store: Queryable, name: string, register: Register | null) {
  const pages: number[][] = [];
  let last = register?.parts?.onceEach === true ? "" : null;
  while (last !== null) {
    const { rows } = await store.raw.execute({
      sql: `
        SELECT max(org_id) AS last, json_group_array(row_digest) AS digests
        FROM (
          SELECT org_id, row_digest FROM register_records
          WHERE org_id > ? AND register = ? AND row_digest IS NOT NULL
          ORDER BY org_id LIMIT ${rowsAtOnce}
        )`,
      args: [last, name],
    });
    pages.push(JSON.parse(String(rows[0]?.["digests"])));
    last = rows[0]?.["last"]?.toString() ?? null;
  }
  const digests = new Float64Array(pages.flat()).sort();
  return (row: StagedRow): boolean => digests.length > 0 && isAmong(digests, rowDigest(name, row));
}

function isAmong(sorted: Float64Array, value: number): boolean {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (Number(sorted[middle]) < value) from = middle + 1;
    else to = middle;
  }
  return sorted[from] === value;
}

/**
 * Stores the digests of imported rows, except those that another row or the file's date may change: profiles with several
 * registrations, and revocations.
 */
export function noteDigests(register: string, rows: readonly StagedRow[]): Statement {
  const noted = rows.map((row) => {
    const { org_id, fields }: RegisterDraft = JSON.parse(row.payload);
    return [org_id, rowDigest(register, row), fields === null ? 0 : 1];
  });
  const sql = `
    UPDATE register_records SET row_digest = noted.value ->> 1
    FROM json_each(?2) AS noted
    WHERE org_id = noted.value ->> 0 AND register = ?1 AND state = 'registered'
      AND (nonprofit_id IS NOT NULL) = noted.value ->> 2
      AND (SELECT count(*) FROM registrations AS r WHERE r.nonprofit_id = register_records.nonprofit_id) < 2
      AND NOT EXISTS (
        SELECT 1 FROM register_records AS other
        WHERE other.org_id = register_records.org_id AND other.state = 'revoked'
      )`;
  return { sql, args: [register, JSON.stringify(noted)] };
}
