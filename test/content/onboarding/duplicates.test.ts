import { expect, test } from "bun:test";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { findDuplicates } from "#content/onboarding/duplicate-store.ts";
import { soughtFor } from "#content/onboarding/onboard.ts";
import { readOnboarding } from "#content/onboarding/read.ts";
import { openStore } from "#content/store/open.ts";
import { aNonprofit, saveNew } from "#test/support/records.ts";

/** The slugs of the stored profiles that may be the one sought. */
async function duplicatesAmong(records: Partial<NonprofitRecord>[], sought: object) {
  using store = await openStore({ url: ":memory:" });
  await saveNew(store, ...records.map((values) => aNonprofit(values)));
  const unknown = { id: null, city: null, website: null, country_code: null, registration: null };
  const found = await findDuplicates(store, { name: "Quite Else", ...unknown, ...sought });
  return found.map(({ slug }) => slug);
}

test.each([
  ["KE", ["in-KE"]],
  [null, []],
])("a number without register is one of its country: %p", async (country_code, slugs) => {
  const registration = { type: "", registration_number: "77-1", org_id: null };
  const records = ["", "KE"].map((code) => ({
    slug: `in-${code}`,
    registrations: [{ ...registration, country_code: code }],
  }));
  expect(await duplicatesAmong(records, { registration, country_code })).toEqual(slugs);
});

test("a site is the same with a slash at its end, and with a path", async () => {
  const sites = ["https://oak.example", "https://oak.example/", "https://www.oak.example/about"];
  const others = ["https://oak.example.org", "https://oak.example-fir.org"];
  const records = [...sites, ...others].map((website, at) => ({ slug: `oak-${at}`, website }));
  const found = await duplicatesAmong(records, { website: "http://oak.example" });
  expect(found).toEqual(["oak-0", "oak-1", "oak-2"]);
});

const requestOf = (body: object) => {
  const read = readOnboarding({ contact_email: "a@surf.example", ...body }, { thisYear: 2026 });
  if (!read.ok) throw new Error(JSON.stringify(read.failure));
  return read.value.request;
};

test.each([
  ["claim", { verified: 0, status: "listed" }, "Hope Kitchen", "https://hope.example"],
  ["change", { verified: 1, status: "claimed" }, "Surf Kids", "https://surf.example"],
] as const)("a %s of a profile %j is looked up as %j", (_, state, name, website) => {
  const own = { slug: "hope", name: "Hope Kitchen", city: "Oslo", website: "https://hope.example" };
  const request = requestOf({ claim_slug: "hope", name: "Surf Kids", website: "surf.example" });
  const sought = soughtFor(request, aNonprofit({ ...own, ...state }));
  expect(sought).toMatchObject({ name, city: "Oslo", website });
});

test("a registration is looked up by the values of its request", () => {
  const sought = soughtFor(requestOf({ name: "Surf Kids", country: "Kenya" }), null);
  expect(sought).toMatchObject({ id: null, name: "Surf Kids", country_code: "KE", city: null });
});
