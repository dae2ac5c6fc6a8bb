import { randomUUID } from "node:crypto";
import Database from "libsql";
import { serveHere } from "#test/support/serve-here.ts";

type Value = { type: "null" | "integer" | "float" | "text" | "blob"; value?: string | number };
type Sql = { sql?: string; sql_id?: number };
type Stmt = Sql & { args?: Value[] };
type Condition =
  | { type: "ok" | "error"; step: number }
  | { type: "not"; cond: Condition }
  | { type: "and" | "or"; conds: Condition[] }
  | { type: "is_autocommit" };
type Step = { stmt: Stmt; condition?: Condition | null };
type Asked = Sql & { type: string; stmt?: Stmt; batch?: { steps: Step[] } };

/** What becomes of a request to the server: answered, refused before anything is done, or done and never answered. */
export type Fate = "answered" | "lost" | "answer lost";

/**
 * A libSQL server of this process over a file, for tests that count round trips and lose requests: what `@libsql/client` asks of
 * one over HTTP. `fateOf` is asked for each request with the statements in it.
 */
export function hranaServer(path: string, fateOf: (sql: string) => Fate = () => "answered") {
  const streams = new Map<string, Stream>();
  let roundTrips = 0;
  const server = serveHere(async (request) => {
    if (request.method === "GET") return new Response("", { status: 404 });
    roundTrips += 1;
    const text = await request.text();
    const { baton, requests } = JSON.parse(text) as { baton: string | null; requests: Asked[] };
    const fate = fateOf(text);
    if (fate === "lost") return new Response("lost", { status: 502 });
    const stream = (baton === null ? null : streams.get(baton)) ?? openStream(path);
    if (baton !== null) streams.delete(baton);
    const results = requests.map((asked) => stream.answer(asked));
    const next = stream.isClosed() ? null : randomUUID();
    if (next !== null) streams.set(next, stream);
    if (fate === "answer lost") return new Response("lost", { status: 502 });
    return Response.json({ baton: next, base_url: null, results });
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    roundTrips: () => roundTrips,
    stop: () => server.stop(true),
  };
}

type Stream = ReturnType<typeof openStream>;

function openStream(path: string) {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  const texts = new Map<number, string>();
  let closed = false;
  const textOf = ({ sql, sql_id }: Sql) => sql ?? texts.get(sql_id ?? -1) ?? "";
  const execute = (stmt: Stmt) => {
    const statement = database.prepare(textOf(stmt).replace("TRANSACTION READONLY", "DEFERRED"));
    const args = (stmt.args ?? []).map(fromValue);
    const columns = statement.columns();
    const isQuery = columns.length > 0;
    const rows = isQuery ? (statement.raw(true).all(...args) as unknown[][]) : [];
    const done = isQuery ? { changes: 0, lastInsertRowid: 0 } : statement.run(...args);
    return {
      cols: columns.map(({ name }) => ({ name, decltype: null })),
      rows: rows.map((row) => row.map(toValue)),
      affected_row_count: done.changes,
      last_insert_rowid: String(done.lastInsertRowid),
    };
  };
  const batch = (steps: readonly Step[]) => {
    const step_results: unknown[] = [];
    const step_errors: unknown[] = [];
    const holds = (one: Condition): boolean => {
      if (one.type === "ok") return (step_results[one.step] ?? null) !== null;
      if (one.type === "error") return (step_errors[one.step] ?? null) !== null;
      if (one.type === "not") return !holds(one.cond);
      if (one.type === "and") return one.conds.every(holds);
      return one.type === "or" ? one.conds.some(holds) : !database.inTransaction;
    };
    for (const { stmt, condition } of steps) {
      const done =
        (condition ?? null) === null || holds(condition as Condition) ? attempt(stmt) : {};
      step_results.push("result" in done ? done.result : null);
      step_errors.push("error" in done ? done.error : null);
    }
    return { step_results, step_errors };
  };
  const attempt = (stmt: Stmt) => {
    try {
      return { result: execute(stmt) };
    } catch (error) {
      const { code = "SQLITE_ERROR", message } = error as Error & { code?: string };
      return { error: { message, code } };
    }
  };
  const answer = (asked: Asked): unknown => {
    const { type, stmt = {} } = asked;
    const ok = (members: object = {}) => ({ type: "ok", response: { type, ...members } });
    if (type === "execute") {
      const done = attempt(stmt);
      return "error" in done ? { type: "error", error: done.error } : ok(done);
    }
    if (type === "batch") return ok({ result: batch(asked.batch?.steps ?? []) });
    if (type === "store_sql") texts.set(asked.sql_id ?? -1, asked.sql ?? "");
    if (type === "sequence") database.exec(textOf(asked));
    if (type === "close") {
      closed = true;
      database.close();
    }
    return ok();
  };
  return { answer, isClosed: () => closed };
}

function fromValue({ type, value }: Value): string | number | null {
  if (type === "null") return null;
  if (type === "integer") return Number(value);
  return value ?? null;
}

function toValue(value: unknown): Value {
  if (value === null) return { type: "null" };
  if (typeof value !== "number") return { type: "text", value: String(value) };
  return Number.isInteger(value)
    ? { type: "integer", value: String(value) }
    : { type: "float", value };
}
