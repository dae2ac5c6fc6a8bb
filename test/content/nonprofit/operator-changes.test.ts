import { describe, expect, test } from "bun:test";
import { merged, unmerged, whyNotMerged } from "#content/nonprofit/operator-changes.ts";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const at = new Date("2026-06-01T12:00:00Z");
const registered = (org_id: string) => ({
  country_code: "GB",
  type: "Charity number",
  registration_number: org_id,
  org_id,
});
const scopeOf = (org_id: string) => org_id.split("-", 2).join("-");
const said = (org_id: string) =>
  aRegisterRecord({ org_id, register: "ukcat", scope: scopeOf(org_id) });
const profile = (org_id: string, parts: Partial<NonprofitRecord> = {}) =>
  aNonprofit({
    registrations: [registered(org_id)],
    register_records: [said(org_id)],
    register: "ukcat",
    register_scope: scopeOf(org_id),
    ...parts,
  });
const into = profile("GB-CHC-1000001", { id: 1, city: null, causes: ["education"] });
const gone = profile("GB-SC-SC000001", {
  id: 2,
  mission: "Lanterns",
  city: "Leith",
  region: "Scotland",
  causes: ["health"],
  provenance: { mission: sourceFrom("register", 1), registrations: sourceFrom("register", 1) },
});

describe("a link of two registers", () => {
  const link = merged(gone, into, { at, source: "same_number" });

  test("moves registrations, records and what is lacking, but no place and no causes beside others", () => {
    expect(link.into).toMatchObject({
      mission: "Lanterns",
      city: null,
      region: null,
      causes: ["education"],
      register_scope: "GB-CHC",
      registrations: [{}, { linked_by: "same_number" }],
      register_records: [{}, {}],
    });
    const withdrawn = { status: "withdrawn", merged_into: into.slug, registrations: [] };
    expect(link.gone).toMatchObject(withdrawn);
    expect(link.gone.provenance["status"]).toBeUndefined();
  });

  test("is undone to what was", () => {
    const back = unmerged(link.gone, link.into, link.given);
    expect(back.gone).toEqual(gone);
    expect(back.into).toEqual(into);
  });

  test("gives back no registration that the other has lost since", () => {
    const back = unmerged(link.gone, { ...link.into, registrations: [] }, link.given);
    expect(back.gone).toMatchObject({ registrations: [], register_records: [] });
  });

  test.each<[string, [register: string, state: "gone" | "removed" | "reinstated"][]]>([
    ["withdrawn", [["ukcat", "removed"]]],
    ["listed", [["ukcat", "reinstated"]]],
    [
      "withdrawn",
      [
        ["ukcat", "gone"],
        ["other", "reinstated"],
      ],
    ],
    ["withdrawn", [["other", "gone"]]],
    ["listed", []],
  ])("undone, it is %s where registers say since: %j", (status, states) => {
    const of = said("GB-SC-SC000001");
    const register_records = states.map(([register, state]) => ({ ...of, register, state }));
    const back = unmerged(link.gone, { ...link.into, register_records }, link.given);
    expect(back.gone.status).toBe(status as NonprofitRecord["status"]);
  });

  test("is undone without what others changed since", () => {
    const since = { ...link.into, mission: "Other words" };
    expect(unmerged(link.gone, since, link.given).into.mission).toBe("Other words");
  });
});

test("a merge by an operator moves causes, too, and is undone as well", () => {
  const merge = merged(gone, { ...into, register: null, register_scope: null }, { at });
  expect(merge.into).toMatchObject({ city: null, causes: ["education", "health"] });
  const own = merged(gone, { ...into, registrations: [] }, { at });
  expect(own.into).toMatchObject({ city: "Leith", region: "Scotland" });
  expect(merge.into).toMatchObject({ register: "ukcat", register_scope: "GB-SC" });
  expect(merge.gone.provenance["status"]?.set_by).toBe("operator");
  const back = unmerged(merge.gone, merge.into, { ...merge.given, provenance: null });
  expect(back.into).toEqual({ ...into, register: null, register_scope: null });
  expect(back.gone.status).toBe("listed");
  expect(unmerged({ ...merge.gone, verified: 1 }, merge.into, merge.given).gone.status).toBe(
    "claimed",
  );
});

test.each<[string, NonprofitRecord, NonprofitRecord]>([
  ["into itself", into, into],
  ["is withdrawn", gone, { ...into, status: "withdrawn" }],
  ["into other before", { ...gone, merged_into: "other" }, into],
  ["belongs to its organisation", { ...gone, verified: 1 }, into],
])("says why a profile cannot be merged: %s", (why, one, other) => {
  expect(whyNotMerged(one, other)).toContain(why);
  expect(whyNotMerged(gone, into)).toBeNull();
});
