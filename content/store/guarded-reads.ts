import type { InStatement, InValue, ResultSet } from "@libsql/client";
import { queryable, type Queryable, type Store } from "./open.ts";
import type { Statement } from "./statement.ts";

type Read = Statement & {
  /** Of `queryEach`: those with the same words are asked in one statement. */
  isEach: boolean;
  resolve: (found: ResultSet, place: number) => void;
  reject: (error: unknown) => void;
};

/**
 * Reads a server for decisions that are made side by side: all that is asked in one turn of the event loop is sent at
 * once, and is of one moment. `guards` are statements that fail, and with them the batch in which they stand, unless all
 * that was read is still so.
 */
export function gatherReads(server: Store): { store: Queryable; guards: Statement[] } {
  const guards: Statement[] = [];
  let waiting: Read[] = [];
  const send = async () => {
    const reads = waiting;
    waiting = [];
    const groups = [...Map.groupBy(reads, (one) => (one.isEach ? one.sql : one)).entries()];
    const sent = groups.map(([one, all]): Statement =>
      typeof one === "string"
        ? { sql: one, args: [JSON.stringify(all.map(({ args }) => args))] }
        : { sql: one.sql, args: one.args },
    );
    try {
      const found = await server.raw.batch(sent, "read");
      guards.push(...sent.map((one, at) => guardOf(one, found[at])));
      for (const [at, rows] of found.entries()) {
        for (const [place, { resolve }] of groups[at]?.[1].entries() ?? []) resolve(rows, place);
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  };
  const ask = (read: Statement & { isEach: boolean }) =>
    new Promise<[ResultSet, number]>((resolve, reject) => {
      // Later than all that the answers to the reads before lead to.
      if (waiting.length === 0) setImmediate(() => void send());
      waiting.push({ ...read, reject, resolve: (...found) => resolve(found) });
    });
  const execute = async (asked: InStatement, values?: InValue[]) => {
    const { sql, args = [] } = typeof asked === "string" ? { sql: asked, args: values } : asked;
    return (await ask({ sql, args: Object.values(args), isEach: false }))[0];
  };
  const each = async (sql: string, args: InValue[]) => {
    const [{ rows }, place] = await ask({ sql, args, isEach: true });
    return rows.find((row) => row["asked"] === place);
  };
  return { store: Object.assign(queryable({ execute }), { each }), guards };
}

/** What it makes of other rows than these is no JSON. In SQL, so that the server compares, within the batch. */
function guardOf({ sql, args }: Statement, found?: ResultSet): Statement {
  const { rows = [], columns = [] } = found ?? {};
  const known = columns.map((_, at) => `value ->> ${at}`).join(", ");
  const isSame = `(SELECT count(*) FROM now) = ${rows.length}
    AND NOT EXISTS (SELECT * FROM now EXCEPT SELECT ${known} FROM json_each(?${args.length + 1}))`;
  return {
    sql: `WITH now AS MATERIALIZED (${sql}) SELECT json(iif(${isSame}, '1', 'changed'))`,
    args: [...args, JSON.stringify(rows.map((row) => columns.map((_, at) => row[at])))],
  };
}
