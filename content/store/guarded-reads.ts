import type { InStatement, InValue, ResultSet, Row } from "@libsql/client";
import { queryable, type Queryable, type Store } from "./open.ts";
import type { Statement } from "./statement.ts";

type Read<Answer> = Statement & {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};

/**
 * Reads a server for decisions that are made side by side: all that is asked in one turn of the event loop is sent at
 * once, and is of one moment. `guards` are statements that fail, and with them the batch in which they stand, unless all that was
 * read is still so.
 */
export function gatherReads({ raw }: Pick<Store, "raw">): {
  store: Queryable;
  guards: Statement[];
} {
  const guards: Statement[] = [];
  let single: Read<ResultSet>[] = [];
  let each: Read<Row | undefined>[] = [];
  const send = async () => {
    const asked = [...single, ...each];
    const joined = [...Map.groupBy(each, ({ sql }) => sql)].map(([sql, reads]) => {
      const resolve = ({ rows }: ResultSet) => {
        const byPlace = new Map(rows.map((row) => [row["asked"], row]));
        for (const [at, one] of reads.entries()) one.resolve(byPlace.get(at));
      };
      return { sql, args: [JSON.stringify(reads.map(({ args }) => args))], resolve };
    });
    const sent = [...single, ...joined];
    [single, each] = [[], []];
    try {
      const found = await raw.batch(
        sent.map(({ sql, args }) => ({ sql, args })),
        "read",
      );
      for (const [at, result] of found.entries()) {
        const read = sent[at];
        if (read !== undefined) guards.push(guardOf(read, result));
        read?.resolve(result);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };
  const ask = <Answer>(reads: () => Read<Answer>[], statement: Statement) =>
    new Promise<Answer>((resolve, reject) => {
      // Later than all that the answers to the reads before lead to.
      if (single.length + each.length === 0) setImmediate(() => void send());
      reads().push({ ...statement, resolve, reject });
    });
  const execute = (asked: InStatement, values?: InValue[]) => {
    const { sql, args = [] } = typeof asked === "string" ? { sql: asked, args: values } : asked;
    return ask(() => single, { sql, args: Object.values(args) });
  };
  const askEach = (sql: string, args: InValue[]) => ask(() => each, { sql, args });
  return { store: Object.assign(queryable({ execute }), { each: askEach }), guards };
}

/** What it makes of other rows than these is no JSON. In SQL, so that the server compares, within the batch. */
function guardOf({ sql, args }: Statement, { rows, columns }: ResultSet): Statement {
  const known = columns.map((_, at) => `value ->> ${at}`).join(", ");
  const isSame = `(SELECT count(*) FROM now) = ${rows.length}
    AND NOT EXISTS (SELECT * FROM now EXCEPT SELECT ${known} FROM json_each(?${args.length + 1}))`;
  return {
    sql: `WITH now AS MATERIALIZED (${sql}) SELECT json(iif(${isSame}, '1', 'changed'))`,
    args: [...args, JSON.stringify(rows.map((row) => columns.map((_, at) => row[at])))],
  };
}
