import { appendFileSync } from "node:fs";
import Database from "libsql";

// Preloaded by the tests of a release: appends each kind of statement that its code sends to the file ALMONER_RECORD_TO,
// once for each process, as [sql, args]. Those of the release before are in test/support/stores.

const path = process.env["ALMONER_RECORD_TO"] ?? "statements.ndjson";
const seen = new Set<string>();
const asNumber = (_: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);

function record(sql: string, args: unknown): void {
  const text = sql.replace(/\s+/g, " ").trim();
  const kind = text.replace(/\((?:\?(?:, ?)?)+\)/g, "(?)").replace(/(?:\?, ?)+/g, "");
  if (seen.has(kind) || !/^(?:select|insert|update|delete|with)\b/i.test(text)) return;
  seen.add(kind);
  appendFileSync(path, `${JSON.stringify([text, args], asNumber)}\n`);
}

// oxlint-disable-next-line typescript/unbound-method -- called with its own this
const prepare = Database.prototype.prepare;

function recorded(this: Database.Database, sql: string): Database.Statement {
  const statement: Database.Statement = prepare.call(this, sql);
  const [all, run] = [statement.all.bind(statement), statement.run.bind(statement)];
  statement.all = (...args) => (record(sql, args[0]), all(...args));
  statement.run = (...args) => (record(sql, args[0]), run(...args));
  return statement;
}

Database.prototype.prepare = recorded as typeof prepare;
