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
