import { expect, test } from "bun:test";
import { emptyRecord } from "#content/nonprofit/record.ts";
import {
  importRegister,
  type ImportInput,
  type ImportSource,
  type ImportWorld,
} from "#content/register/import.ts";
import type { Register, RegisterFile, RowOutcome, Staging } from "#content/register/stage-rows.ts";
import { openStore } from "#content/store/open.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const store = forEachTest(() => openStore({ url: ":memory:" }));

const bytes = 2 ** 20;
const needed = 20 * bytes;
const free = needed - 1;

function fakeStaging(): Staging {
  const rows = new Map<string, Parameters<Staging["put"]>[0] & { readAt: string }>();
  return {
    scopes: new Set(),
    put: (row, { readAt = "" } = {}) => {
      const earlier = rows.get(row.key);
      if (earlier === undefined) rows.set(row.key, { ...row, readAt });
      return earlier?.readAt ?? null;
    },
    after: (key, limit) =>
      [...rows.values()]
        .filter((row) => row.key > key && row.payload !== "")
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit),
    has: (keys) => keys.some((key) => rows.has(key)),
    size: () => ({ count: rows.size, bytes }),
  };
}

const parts = { onceEach: true };
const register: Register = { name: "registry", lists: true, parts };

const organisation = (number: number): RowOutcome => {
  const org_id = `US-EIN-${100_000_000 + number}`;
  const registration = { country_code: "US", type: "EIN", registration_number: `${number}` };
  const registrations = [{ ...registration, org_id }];
  const fields = { name: `Sample Trust ${number}`, causes: [], registrations };
  const draft = { org_id, source_url: null, fields, record: null };
  return { kind: "draft", rank: "", draft };
};
const organisations = (count: number) => Array.from({ length: count }, (_, at) => organisation(at));
const unreadable = "the row has 3 fields";
const unnamed: RowOutcome = { kind: "bad", problem: "NAME is empty" };

async function* rowsOf(
  outcomes: readonly (RowOutcome | typeof unreadable)[],
): RegisterFile["rows"] {
  for (const [at, outcome] of outcomes.entries()) {
    const line = at + 2;
    if (outcome === unreadable) yield { line, problem: unreadable };
    else yield { line, part: "NV", outcome };
  }
}

const rows = (...outcomes: Parameters<typeof rowsOf>[0]): ImportSource =>
  rowsAsOf("2026-05-12", outcomes);
const rowsAsOf = (
  day: string,
  outcomes: Parameters<typeof rowsOf>[0],
  other: Partial<Register> = {},
): ImportSource => ({
  register: { ...register, ...other },
  read: () => [{ name: "x.csv", day, rows: rowsOf(outcomes) }],
});

const record = (fields: object) =>
  JSON.stringify({ ...emptyRecord, id: 1, slug: "well", name: "Well", ...fields });

async function* linesOf(texts: readonly string[]) {
  for (const [at, text] of texts.entries()) yield { text, line: at + 1 };
}
const records = (...texts: string[]): ImportSource => ({
  register: null,
  read: () => [{ name: "x.ndjson", lines: linesOf(texts) }],
});

type Options = Partial<ImportWorld> & Partial<ImportInput>;

const nothing = () => {};
const run = (source: ImportSource, options: Options = {}) =>
  importRegister(
    {
      store: { ...store, embedded: true },
      clock: () => new Date("2026-12-01T12:00:00Z"),
      signal: new AbortController().signal,
      staging: fakeStaging(),
      pace: { size: () => 100, run: (work) => work() },
      mergeIndex: async () => {},
      freeBytes: () => needed,
      onProgress: nothing,
      onCovered: nothing,
      onSkipped: nothing,
      ...options,
    },
    {
      source,
      format: "registry",
      files: ["x"],
      fetched: null,
      scope: null,
      skipBad: false,
      checkOnly: false,
      allowManyWithdrawals: false,
      ...options,
    },
  );

const aborted = AbortSignal.abort();
const older = rowsAsOf("2026-05-11", organisations(30));
const isOlder = { part: "NV", as_of: "2026-05-11", read: "2026-05-12" };
const csv = { file: "x.csv" };
const ndjson = { file: "x.ndjson" };
const link = "website: send an http or https URL";
const repeated = "US-EIN-100000000 stands on line 2 of x.csv already";

test.each<[kind: string, failure: object, source: ImportSource, options?: Options]>([
  ["disk_too_small", { needed, free }, rows(organisation(0)), { freeBytes: () => free }],
  ["older", isOlder, older],
  ["older", isOlder, older, { scope: "none" }],
  ["older", isOlder, older, { checkOnly: true }],
  [
    "too_many_bad",
    { file: "x.csv", bad: 11, rows: 41 },
    rowsAsOf("2026-05-12", [...organisations(30), ...Array.from({ length: 11 }, () => unnamed)], {
      quarantines: true,
    }),
  ],
  ["too_many_withdrawals", { part: "NV", gone: 25, had: 30 }, rows(...organisations(5))],
  ["unknown_parts", { unknown: ["OH"], known: ["NV"] }, rows(organisation(0)), { scope: "OH" }],
  ["interrupted", { stored: null }, rows(organisation(0)), { signal: aborted }],
  ["interrupted", { stored: null }, records(record({})), { signal: aborted }],
  ["not_yet", { file: "x.csv", as_of: "2026-12-03" }, rowsAsOf("2026-12-03", organisations(1))],
  ["no_rows", { file: "x.csv" }, rows()],
  ["bad_row", { ...csv, line: 3, problem: unreadable }, rows(organisation(0), unreadable, unnamed)],
  ["bad_row", { ...csv, line: 2, problem: "NAME is empty" }, rows(unnamed, unreadable)],
  ["bad_row", { ...csv, line: 3, problem: repeated }, rows(organisation(0), organisation(0))],
  ["bad_row", { ...ndjson, line: 2, problem: "this is not JSON" }, records(record({}), "{")],
  ["bad_row", { ...ndjson, line: 1, problem: link }, records(record({ website: "ftp://x.org" }))],
])(
  "an import ends with %s, and the store is as it was",
  async (kind, failure, source, options = {}) => {
    await run(rows(...organisations(30)));
    const before = store.committed();
    expect(await run(source, options)).toMatchObject({ ok: false, failure: { kind, ...failure } });
    expect(store.committed()).toBe(before);
  },
);

test("one that is interrupted as it stores says how many it stored", async () => {
  const stopping = new AbortController();
  const run2: ImportWorld["pace"]["run"] = (work) => work().finally(() => stopping.abort());
  const pace = { size: () => 2, run: run2 };
  const interrupted = await run(rows(...organisations(5)), { pace, signal: stopping.signal });
  expect(interrupted).toEqual({ ok: false, failure: { kind: "interrupted", stored: 2 } });
});

test.each<[source: ImportSource, lines: number[]]>([
  [rows(organisation(0), unreadable, { kind: "skip", why: "withheld" }, unnamed), [3, 5]],
  [
    records("{", "{}", record({}), record({ id: 2 }), record({ id: 3, slug: "x", city: "\u200B" })),
    [1, 2, 4, 5],
  ],
])("malformed rows are counted and left out when asked", async (source, lines) => {
  const skipped: unknown[] = [];
  const onSkipped: ImportWorld["onSkipped"] = ({ line }) => skipped.push(line);
  const value = { added: 1, skipped_because: { bad: lines.length } };
  expect(await run(source, { skipBad: true, onSkipped })).toMatchObject({ ok: true, value });
  expect(skipped).toEqual(lines);
});

test("a row that was taken in is known when it comes again, and not looked at", async () => {
  const withRecord = (outcome: RowOutcome): RowOutcome => {
    if (outcome.kind !== "draft") return outcome;
    const { org_id } = outcome.draft;
    const said = { org_id, name: "Sample Trust", state: "registered", facts: {} } as const;
    return { ...outcome, draft: { ...outcome.draft, record: said } };
  };
  const source = rows(...organisations(2).map(withRecord));
  await run(source);
  const staging = fakeStaging();
  const again = await run(source, { staging });
  expect(again).toMatchObject({ ok: true, value: { added: 0, changed: 0, unchanged: 2 } });
  expect(staging.after("", 10)).toEqual([]);
});

test("of several rows of one organisation one counts, and the others are counted", async () => {
  const several = { parts: { ...parts, onceEach: false } };
  const source = rowsAsOf("2026-05-12", [organisation(0), organisation(0)], several);
  const value = { added: 1, skipped_because: { duplicate: 1 } };
  expect(await run(source)).toMatchObject({ ok: true, value });
});
