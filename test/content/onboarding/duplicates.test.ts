import { expect, test } from "bun:test";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { findDuplicates } from "#content/onboarding/duplicate-store.ts";
import { openStore } from "#content/store/open.ts";
import { aNonprofit } from "#test/support/records.ts";

test("a number without register and country is nobody's duplicate", async () => {
  const store = await openStore({ url: ":memory:" });
  const number = { type: "", registration_number: "77-1", org_id: null };
  const placeless = aNonprofit({
    slug: "placeless",
    registrations: [{ ...number, country_code: "" }],
  });
  const kenyan = aNonprofit({ slug: "kenyan", registrations: [{ ...number, country_code: "KE" }] });
  const saves = [placeless, kenyan].map((after) => ({ before: null, after }));
  await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date() }));

  const sought = { id: null, name: "Quite Else", city: null, website: null, registration: number };
  const slugsIn = async (country_code: string | null) =>
    (await findDuplicates(store, { ...sought, country_code })).map(({ slug }) => slug);
  expect(await slugsIn("KE")).toEqual(["kenyan"]);
  expect(await slugsIn(null)).toEqual([]);
  store.close();
});

test("a site is the same with a slash at its end, and with a path", async () => {
  using store = await openStore({ url: ":memory:" });
  const sites = ["https://oak.example", "https://oak.example/", "https://www.oak.example/about"];
  const others = ["https://oak.example.org", "https://oak.example-fir.org"];
  const saves = [...sites, ...others].map((website, at) => ({
    before: null,
    after: aNonprofit({ slug: `oak-${at}`, website }),
  }));
  await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date() }));
  const sought = {
    id: null,
    name: "Quite Else",
    city: null,
    country_code: null,
    registration: null,
  };
  const found = await findDuplicates(store, { ...sought, website: "http://oak.example" });
  expect(found.map(({ slug }) => slug)).toEqual(["oak-0", "oak-1", "oak-2"]);
});
