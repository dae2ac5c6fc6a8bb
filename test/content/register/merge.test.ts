import { describe, expect, test } from "bun:test";
import {
  RecordLine,
  mergedWithLine,
  recordLine,
  recordOfLine,
} from "#content/nonprofit/record-line.ts";
import {
  type RegisterDraft,
  factsWithWaiting,
  goneDraft,
  isBeatenBy,
  mergedWithRegister,
  newFromRegister,
  recordAfter,
  withPeriods,
} from "#content/register/merge.ts";
import type { StoredPeriod } from "#content/contract/nonprofit.ts";
import {
  type NonprofitRecord,
  sourceFrom,
  type StoredProvenance,
} from "#content/nonprofit/record.ts";
import { filed as filedPeriod } from "#test/support/filed.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const terms = { register: "irs-bmf", scope: "NV", as_of: "2026-04-14", lists: true };
const nowMs = 1_000;

const draft = (fields: RegisterDraft["fields"]): RegisterDraft => ({
  org_id: "US-EIN-000000101",
  source_url: "https://register.example/101",
  fields,
  record: null,
});

/** The nonprofit when its register no longer has its first organisation. */
const afterLeaving = (before: NonprofitRecord, on = terms): NonprofitRecord => {
  const known = before.register_records[0] ?? { org_id: "US-EIN-000000101" };
  return mergedWithRegister(before, goneDraft(known), on, nowMs);
};

const setBy = (set_by: StoredProvenance["set_by"], source: string, applied_at = 1) =>
  sourceFrom(set_by, applied_at, { source });
const registered = (org_id: string, parts: object = {}) => ({
  country_code: "GB",
  type: "Charity number",
  registration_number: org_id.slice(7),
  org_id,
  ...parts,
});

const listed = (parts: Partial<NonprofitRecord>) =>
  aNonprofit({ register: "irs-bmf", register_scope: "NV", ...parts });

/** The nonprofit after a row with these fields. */
const after = (before: NonprofitRecord, fields: RegisterDraft["fields"], on = terms) =>
  mergedWithRegister(before, draft(fields), on, nowMs);

describe("a register", () => {
  const own = { city: setBy("register", "irs-bmf") };
  const ours = (set_by: StoredProvenance["set_by"]) => ({
    mission: "Ours",
    provenance: { mission: setBy(set_by, "irs-990") },
  });
  const status = setBy("operator", "operator");

  test("fills an empty field, and changes and clears what it set itself", () => {
    const filled = after(listed({}), { city: "Easthaven" });
    expect(filled).toMatchObject({ city: "Easthaven" });
    expect(filled.provenance["city"]).toEqual({
      ...setBy("register", "irs-bmf", nowMs),
      source_url: "https://register.example/101",
    });
    const before = listed({ city: "Easthaven", provenance: own });
    expect(after(before, { city: "Westhaven" }).city).toBe("Westhaven");
    const cleared = after(before, { city: null });
    expect([cleared.city, cleared.provenance]).toEqual([null, {}]);
    expect(before.provenance).toEqual(own);
  });

  test.each<[string, Partial<NonprofitRecord>, RegisterDraft["fields"]]>([
    ["what agents set", ours("consensus"), { mission: "Theirs" }],
    ["what an operator set", ours("operator"), { mission: null }],
    ["what the organisation set", ours("organisation"), { mission: "Theirs" }],
    ["what another register set", ours("register"), { mission: "Theirs" }],
    ["what another register set, by its silence", ours("register"), { mission: null }],
    ["a value of unknown origin", { mission: "Ours", city: "Easthaven" }, { city: "Westhaven" }],
    [
      "what is as it says",
      { causes: ["education"], provenance: { causes: setBy("register", "irs-bmf") } },
      { causes: ["education"], city: null },
    ],
    ["what an operator withdrew", { status: "withdrawn", provenance: { status } }, {}],
  ])("leaves %s", (_, parts, fields) => {
    const before = listed(parts);
    expect(after(before, fields)).toBe(before);
  });

  test("restores what it lists again, unless it only adds, and moves it to another of its parts", () => {
    const gone = listed({ status: "withdrawn" });
    expect(after(gone, {}).status).toBe("listed");
    expect(after({ ...gone, verified: 1 }, {}).status).toBe("claimed");
    expect(after(gone, {}, { ...terms, register: "irs-990", lists: false })).toBe(gone);
    expect(after(listed({}), {}, { ...terms, scope: "OH" }).register_scope).toBe("OH");
  });

  test("withdraws, but not twice, and not what an operator keeps", () => {
    expect(afterLeaving(listed({})).status).toBe("withdrawn");
    for (const before of [listed({ status: "withdrawn" }), listed({ provenance: { status } })])
      expect(afterLeaving(before)).toBe(before);
  });

  test("makes a new nonprofit of a row", () => {
    const made = newFromRegister(draft({ name: "Sample", causes: [] }), terms, nowMs);
    expect(made).toMatchObject({ id: 0, slug: "", name: "Sample", register: "irs-bmf" });
    expect(Object.keys(made.provenance)).toEqual(["name"]);
  });
});

describe("another directory's record", () => {
  const line = (record: NonprofitRecord, contactEmails = true): RecordLine =>
    RecordLine.parse(JSON.parse(recordLine({ ...record, id: 7 }, { contactEmails })));

  test("of a new nonprofit is taken as it is", () => {
    const record = aNonprofit({ id: 7, contact_email: "a@host.example" });
    expect(recordOfLine(line(record))).toEqual(record);
    expect(recordOfLine(line(record, false)).contact_email).toBeNull();
  });

  test("replaces what registers set here, and keeps id and slug", () => {
    const provenance = { city: setBy("register", "acnc") };
    const before = aNonprofit({ id: 3, city: "Here", provenance });
    const merged = { id: 3, slug: before.slug, city: "There", provenance: {} };
    const theirs = aNonprofit({ slug: "other", city: "There" });
    expect(mergedWithLine(before, line(theirs))).toMatchObject(merged);
  });

  test("brings what registers say, and leaves what is newer here", () => {
    const here = aRegisterRecord({ facts: { income: 1 } });
    const newer = aRegisterRecord({ as_of: "2026-05-12", facts: { income: 2 } });
    const before = aNonprofit({ id: 3, register_records: [here] });
    const { register_records: _, ...older } = JSON.parse(
      recordLine({ ...before, id: 7 }, { contactEmails: true }),
    );
    expect(mergedWithLine(before, RecordLine.parse(older))).toBe(before);
    const theirs = { ...before, register_records: [newer] };
    expect(mergedWithLine(before, line(theirs)).register_records).toEqual([newer]);
    expect(mergedWithLine(theirs, line(before))).toBe(theirs);
  });

  test("leaves what was linked here, and says nothing twice", () => {
    const own = registered("GB-CHC-1000001");
    const other = registered("GB-SC-SC000001");
    const linked = { ...other, linked_by: "same_site_and_name" as const };
    const before = aNonprofit({ registrations: [own, linked] });
    expect(mergedWithLine(before, line({ ...before, registrations: [own] }))).toBe(before);
    expect(mergedWithLine(before, line(before))).toBe(before);
    const unlinked = aNonprofit({ registrations: [own, other] });
    expect(
      mergedWithLine(unlinked, line({ ...unlinked, registrations: [own] })).registrations,
    ).toEqual([own]);
  });

  test("leaves what people set here, unless theirs is newer", () => {
    const provenance = { city: setBy("operator", "operator", 5) };
    const before = aNonprofit({ id: 3, city: "Here", provenance });
    const theirs = (applied_at: number) => {
      const newer = { city: setBy("consensus", "consensus", applied_at) };
      return line({ ...before, city: "There", provenance: newer });
    };
    expect(mergedWithLine(before, theirs(4))).toBe(before);
    expect(mergedWithLine(before, theirs(6)).city).toBe("There");
  });

  test("without an e-mail address says nothing of it", () => {
    const before = aNonprofit({ id: 3, contact_email: "a@host.example" });
    expect(mergedWithLine(before, line(before, false))).toBe(before);
    const known = { ...before, provenance: { contact_email: setBy("consensus", "consensus") } };
    expect(mergedWithLine(known, line(known, false))).toBe(known);
  });
});

describe("what a register says", () => {
  const said = aRegisterRecord({ facts: { subsection: "03", income: 0 } });
  const { register: _register, scope: _scope, as_of: _asOf, finances: _finances, ...record } = said;
  const row = (parts: Partial<typeof record> = {}): RegisterDraft => ({
    ...draft({}),
    record: { ...record, ...parts },
  });

  test("keeps the date of the file that said it first", () => {
    const before = mergedWithRegister(listed({}), row(), terms, nowMs);
    expect(before.register_records).toEqual([said]);
    const later = { ...terms, as_of: "2026-05-12" };
    expect(mergedWithRegister(before, row(), later, nowMs)).toBe(before);
    const moved = mergedWithRegister(before, row(), { ...later, scope: "OH" }, nowMs);
    expect(moved.register_records).toEqual([{ ...said, scope: "OH" }]);
    const changed = mergedWithRegister(before, row({ facts: { income: 5 } }), later, nowMs);
    const news = { ...said, facts: { income: 5 }, as_of: "2026-05-12" };
    expect(changed.register_records).toEqual([news]);
  });

  test("has a date of its own beside that of another register, or of another number", () => {
    for (const other of [{ register: "irs-pub78" }, { org_id: "US-EIN-000000999" }]) {
      const beside = { ...said, ...other, as_of: "2020-01-01" };
      const before = listed({ register_records: [beside] });
      const { register_records } = mergedWithRegister(before, row(), terms, nowMs);
      expect(register_records).toContainEqual(said);
    }
  });

  test("is news where a file from after a revocation lists the organisation again", () => {
    const facts = { revoked: "2026-04-20" };
    const list = { register: "irs-revocations", scope: "US", as_of: "2026-05-01" };
    const revocation = aRegisterRecord({ ...list, state: "revoked", facts });
    const revoked = listed({ register_records: [said, revocation] });
    const of = (as_of: string, others = {}) =>
      mergedWithRegister(revoked, row(), { ...terms, as_of, ...others }, nowMs);
    expect(of("2026-04-15")).toBe(revoked);
    const again = { ...said, as_of: "2026-06-09" };
    for (const one of [again, revocation])
      expect(of("2026-06-09").register_records).toContainEqual(one);
    // A row that repeats the revocation finds that another register's file is newer than that.
    const scopes = new Map([["irs-bmf", new Map([["NV", "2026-06-09"]])]]);
    const told = { ...list, lists: false, scopes };
    const repeated = row({ state: "revoked", facts });
    const merged = mergedWithRegister(revoked, repeated, told, nowMs);
    expect(merged.register_records).toContainEqual(again);
  });

  test("of an organisation that it gives no profile withdraws the one it gave", () => {
    const unlisted = { ...row({ facts: { subsection: "04" } }), fields: null };
    const withdrawn = { status: "withdrawn", register_records: [{ state: "registered" }] };
    expect(mergedWithRegister(listed({}), unlisted, terms, nowMs)).toMatchObject(withdrawn);
    const own = aNonprofit({ register: null });
    expect(mergedWithRegister(own, unlisted, terms, nowMs).status).toBe("listed");
  });

  test("is gone as of the first file without it", () => {
    const before = mergedWithRegister(listed({}), row(), terms, nowMs);
    const later = { ...terms, as_of: "2026-05-12" };
    const gone = afterLeaving(before, later);
    expect(gone.register_records).toEqual([{ ...said, state: "gone", as_of: "2026-05-12" }]);
    expect(afterLeaving(gone, { ...later, as_of: "2026-06-09" })).toBe(gone);
  });
});

describe("of several registrations of one nonprofit", () => {
  const first = registered("GB-CHC-1000001");
  const linked = registered("GB-SC-SC000001", { linked_by: "same_site_and_name" });
  const url = (org_id: string) => `https://register.example/${org_id}`;
  const from = (org_id: string) => ({ ...setBy("register", "irs-bmf"), source_url: url(org_id) });
  const before = listed({
    mission: "Lanterns",
    tagline: "Light",
    registrations: [first, linked],
    provenance: {
      mission: from(first.org_id),
      tagline: from(linked.org_id),
      registrations: from(first.org_id),
    },
  });
  const rowOf = (org_id: string, fields: RegisterDraft["fields"]): RegisterDraft => ({
    ...draft(fields),
    org_id,
    source_url: url(org_id),
  });

  test("each row changes and clears what it set, and fills what is empty", () => {
    const none = { mission: null, tagline: null, website: "https://a.example" };
    const byFirst = mergedWithRegister(before, rowOf(first.org_id, none), terms, nowMs);
    expect(byFirst).toMatchObject({ mission: null, tagline: "Light", website: none.website });
    const byLinked = mergedWithRegister(before, rowOf(linked.org_id, none), terms, nowMs);
    expect(byLinked).toMatchObject({ mission: "Lanterns", tagline: null, website: none.website });
  });

  test("a linked one sets neither place nor part", () => {
    const row = rowOf(linked.org_id, { region: "Scotland", city: "Leith" });
    const elsewhere = { ...terms, scope: "OH" };
    expect(mergedWithRegister(before, row, elsewhere, nowMs)).toBe(before);
  });

  test("each renews its own and leaves the other", () => {
    const renewed = registered(linked.org_id, { type: "Charity number (Scotland)" });
    const row = rowOf(linked.org_id, { registrations: [renewed] });
    const both = [first, { ...linked, type: "Charity number (Scotland)" }];
    expect(mergedWithRegister(before, row, terms, nowMs).registrations).toEqual(both);
    const same = rowOf(first.org_id, { registrations: [first] });
    expect(mergedWithRegister(before, same, terms, nowMs)).toBe(before);
  });

  test("one that is in force keeps it listed", () => {
    const record = (org_id: string) => aRegisterRecord({ org_id, name: "Lanterns" });
    const register_records = [record(first.org_id), record(linked.org_id)];
    const one = afterLeaving({ ...before, register_records });
    expect(one.status).toBe("listed");
    expect(one.register_records.map(({ state }) => state)).toEqual(["gone", "registered"]);
    const gone = goneDraft(record(linked.org_id));
    expect(mergedWithRegister(one, gone, terms, nowMs).status).toBe("withdrawn");
    // Of a third number no register says that it has ended.
    const third = { ...one, registrations: [first, linked, registered("GB-NIC-100001")] };
    expect(mergedWithRegister(third, gone, terms, nowMs).status).toBe("listed");
  });
});

describe("a form for a year", () => {
  const form = { scope: "", as_of: "2026-04-14", lists: false };
  const at = Date.parse("2026-11-01");
  const filed = (mission: string, filed_for: string): RegisterDraft => ({
    ...draft({ mission }),
    filed_for,
  });
  const filedIn = (year: number, source = "irs-990") =>
    setBy("register", source, Date.parse(`${year}-12-31`));

  test.each([
    ["empty", {}, "New"],
    ["of an earlier year", { mission: filedIn(2021, "irs-1023ez") }, "New"],
    ["of a later year", { mission: filedIn(2023, "irs-1023ez") }, "Old"],
    ["of another form for the same year", { mission: filedIn(2022, "irs-1023ez") }, "Old"],
    ["of the same form for the same year", { mission: filedIn(2022) }, "New"],
    ["of a register", { mission: setBy("register", "irs-bmf") }, "Old"],
    ["that agents agreed on", { mission: setBy("consensus", "consensus") }, "Old"],
    ["of the organisation", { mission: setBy("organisation", "organisation") }, "Old"],
  ])("meets a mission that is %s", (_, provenance, mission) => {
    const before = aNonprofit({ mission: "mission" in provenance ? "Old" : null, provenance });
    const year = filed("New", "2022-12-31");
    const merge = (to: NonprofitRecord) =>
      mergedWithRegister(to, year, { ...form, register: "irs-990" }, at);
    const merged = merge(before);
    expect(merged.mission).toBe(mission);
    expect(merge(merged)).toBe(merged);
  });

  const period = (period_end: string, revenue: number, more: Partial<StoredPeriod> = {}) =>
    filedPeriod(period_end, { revenue, filed_at: "2023-05-01T00:00:00.000Z", ...more });
  const record = (name: string, finances: StoredPeriod[]) =>
    aRegisterRecord({
      register: "irs-990-xml",
      name,
      scope: "",
      state: "filed",
      facts: { form: "990" },
      finances,
    });

  test("adds its money, each period once, and what it says counts only when it is the newest", () => {
    const first = period("2022-12-31", 5);
    const newest = record("New", [first, period("2021-12-31", 4, { prior_year: true })]);
    const older = record("Old", [period("2021-12-31", 3)]);
    const both = record("New", [first, period("2021-12-31", 3)]);
    expect(recordAfter(newest, older)).toEqual(both);
    expect(recordAfter(older, newest)).toEqual(both);
    expect(recordAfter(both, older)).toBe(both);
    expect(recordAfter(both, newest)).toBe(both);

    const later = { amended: true, filed_at: "2024-01-01T00:00:00.000Z" };
    const amended = period("2022-12-31", 6, later);
    expect(withPeriods([first], [amended])).toEqual([amended]);
    expect(withPeriods([amended], [first])).toEqual([amended]);
  });

  test("says nothing where one for the same period was made later", () => {
    const of2022 = (year: number) =>
      record("A", [period("2022-12-31", 6, { filed_at: `${year}-01-01T00:00:00.000Z` })]);
    const known = [of2022(2024)];
    const draftOf = (year: number) => ({ ...filed("Old", "2022-12-31"), record: of2022(year) });
    expect(isBeatenBy(known, draftOf(2023))).toBe(true);
    expect(isBeatenBy(known, draftOf(2025))).toBe(false);
    expect(isBeatenBy([], draftOf(2023))).toBe(false);
  });

  test("waits among the facts for a profile, the value for the latest year alone", () => {
    const terms990 = { ...form, register: "irs-990-xml" };
    const facts = factsWithWaiting(undefined, filed("Later", "2023-12-31"), terms990, at);
    const later = { ...record("A", []), facts };
    const values = (waiting: object) => JSON.parse(String(Object.values(waiting)[0]));
    expect(values(later.facts)).toMatchObject({ mission: { value: "Later" } });
    const both = factsWithWaiting(later, filed("Earlier", "2022-12-31"), terms990, at);
    expect(values(both)).toMatchObject({ mission: { value: "Later" } });
    expect(factsWithWaiting(undefined, draft(null), terms990, at)).toEqual({});
  });
});
