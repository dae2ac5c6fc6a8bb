import { describe, expect, test } from "bun:test";
import { openBrowse } from "#content/find/browse-store.ts";
import { countedIn, searchIn } from "#content/find/search.ts";
import { theStoreOf, findIn, type Searching, searchQuery } from "#test/support/finding.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const registered = (name: string, org_id: string, postal_code: string) =>
  aNonprofit({
    name,
    country_code: org_id.slice(0, 2),
    register_records: [aRegisterRecord({ org_id, facts: { postal_code } })],
  });

const store = await theStoreOf(
  registered("Providence Food Bank", "US-EIN-000000001", "02903"),
  registered("Pawtucket Food Bank", "US-EIN-000000002", "02860"),
  registered("Newport Food Bank", "US-EIN-000000003", "02840"),
  registered("Honolulu Food Bank", "US-EIN-000000004", "96813"),
  registered("Edinburgh Hospice", "GB-SC-000001", "EH1"),
  registered("Leeds Hospice", "GB-CHC-000001", "LS1"),
  registered("Friends of LS1", "GB-CHC-000002", "CT1"),
  { ...registered("Pawtucket School", "US-EIN-000000005", "02860"), causes: ["education"] },
  aNonprofit({ name: "Hospice of Nowhere", country_code: null }),
);

const near = (parts: Searching) => findIn(store, "", { q: null, limit: 20, ...parts });

test.each([
  ["02903", ["Providence Food Bank", "Pawtucket Food Bank", "Pawtucket School"]],
  ["EH1 1AA", ["Edinburgh Hospice"]],
  ["eh1", ["Edinburgh Hospice"]],
  ["Leeds", ["Leeds Hospice"]],
  ["Leeds, UK", ["Leeds Hospice"]],
  ["Honolulu", ["Honolulu Food Bank"]],
  ["99501", []],
])("near %p, the nearest stand first", async (place, names) => {
  const page = await near({ near: place });
  expect(page.names).toEqual(names);
  expect(page.total).toBe(names.length);
});

test("distances are from the centre of the code, and bound the search", async () => {
  const page = await near({ near: "02903", within_km: 50 });
  const kms = page.ids.map((id) => page.distances?.[id] ?? -1);
  expect(page.names.at(-1)).toBe("Newport Food Bank");
  expect(kms.slice(0, 2)).toEqual([0, 6.1]);
  expect(kms.at(-1)).toBeGreaterThan(35);
  expect((await near({ near: "02903", within_km: 5 })).names).toEqual(["Providence Food Bank"]);
  const second = await near({ near: "02903", limit: 1, offset: 1 });
  expect(second.names).toEqual(["Pawtucket Food Bank"]);
});

test("filters and words narrow what is near, which is never widened", async () => {
  const education = { near: "02903", cause: "education" } as const;
  expect((await near({ ...education, q: "school" })).names).toEqual(["Pawtucket School"]);
  expect(await findIn(store, "hospice", { near: "02903" })).toMatchObject({ total: 0, names: [] });
  expect(await near({ near: "02903", country: "GB" })).toMatchObject({ total: 0 });
});

const browse = openBrowse(store);
const count = countedIn(searchIn(store, browse), browse);

test("values are counted among what is near", async () => {
  const facets = await count(searchQuery({ near: "02903" }));
  expect(facets?.country).toEqual([{ value: "US", count: 3 }]);
  const inMaine = await count(searchQuery({ near: "Leeds", region: "Maine" }));
  expect(inMaine?.country).toEqual([]);
});

describe("words say near what", () => {
  test.each([
    ["food bank near 02903", "02903, Rhode Island"],
    ["food bank near Providence, RI", "Providence, Rhode Island"],
    ["food bank close to Providence", "Providence, Rhode Island"],
    ["food bank 02903", "02903, Rhode Island"],
    ["food bank in 02903-1234", "02903, Rhode Island"],
  ])("%p", async (q, name) => {
    const page = await findIn(store, q);
    const words = ["food", "bank"];
    expect(page.understood).toMatchObject({ near: { name, within_km: 25 }, words });
    const nearest = ["Pawtucket Food Bank", "Providence Food Bank"];
    expect(page.names.slice(0, 2).toSorted()).toEqual(nearest);
  });

  test.each([
    ["food bank near Kenya", false],
    ["food bank near Indiana", false],
    ["the near east", false],
    ["food bank 1", false],
    ["food bank near 02903", true],
    ["food bank 02903", true],
    ["food bank 00000", false],
    ["Friends of LS1", false],
  ])("%p says none, taken literally: %p", async (q, literal) =>
    expect((await findIn(store, q, literal ? { literal } : {})).understood.near).toBeUndefined(),
  );

  test("and may be widened", async () =>
    expect((await findIn(store, "hospice near 02903")).total).toBeGreaterThan(0));
});

test.each([
  ["eh1 1aa", ["Edinburgh Hospice"]],
  ["hospice in LS1", ["Leeds Hospice"]],
  ["charities in England", ["Leeds Hospice", "Friends of LS1"]],
  ["hospices in Scotland", ["Edinburgh Hospice"]],
])("%p says where", async (q, names) => expect((await findIn(store, q)).names).toEqual(names));

test("New England is not in England", async () =>
  expect((await findIn(store, "hospices in New England")).understood.place).toBeNull());

test("an unknown place says what one looks like", async () => {
  const page = await near({ near: "ZZ99" });
  expect(page).toMatchObject({ total: 0, understood: { near: { name: "ZZ99", choices: [] } } });
  expect(page.note).toContain("02903");
  expect(page.note).toContain("EH1 1AA");
});

test.each([
  [{}, "Leeds, West Yorkshire"],
  [{ country: "US", region: "ME" }, "Leeds, Maine"],
  [{ region: "maine" }, "Leeds, Maine"],
  [{ country: "GB", region: "England" }, "Leeds, West Yorkshire"],
  [{ country: "JP" }, "Leeds, West Yorkshire"],
])("of places with one name, filters tell which is meant: %p", async (filters, name) => {
  expect((await near({ near: "Leeds", ...filters })).understood.near).toMatchObject({ name });
});

test("a place that is several asks which, and each choice is one", async () => {
  const page = await near({ near: "Portland" });
  const choices = page.understood.near?.choices ?? [];
  expect(choices.slice(0, 2)).toEqual(["Portland, Oregon", "Portland, Maine"]);
  expect(page.note).toContain("Portland, Maine");
  for (const choice of choices) {
    const { understood } = await near({ near: choice });
    expect(understood.near).toEqual({ name: choice, within_km: 25 });
  }
  const { choices: bays } = (await near({ near: "Half Moon Bay" })).understood.near ?? {};
  expect(bays?.toSorted()).toEqual(["Half Moon Bay, California", "Half-moon Bay, New Zealand"]);
  expect((await near({ near: "Portland ME" })).understood.near?.name).toBe("Portland, Maine");
});
