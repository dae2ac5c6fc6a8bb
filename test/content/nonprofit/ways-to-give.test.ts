import { describe, expect, test } from "bun:test";
import { sourceFrom, type StoredProvenance } from "#content/nonprofit/record.ts";
import { unvouchedAddress, waysToGive } from "#content/nonprofit/ways-to-give.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const baseUrl = "https://almoner.example";
const page = "https://charity.example/give";
const site = "https://charity.example";
const at = Date.parse("2026-11-01");
const kindsOf = (parts: Parameters<typeof aNonprofit>[0]) =>
  waysToGive(aNonprofit(parts), { baseUrl }).map(({ kind }) => kind);

/** A filing for a year that ended then, beside a row of a register of November 2026. */
const filed = (until: string) =>
  sourceFrom("register", Date.parse(until), { source: "irs-1023ez" });
const row = aRegisterRecord({ org_id: "US-EIN-530196605", as_of: "2026-11-01" });

describe("an address is a way to give", () => {
  test.each([
    ["of the organisation", sourceFrom("organisation", at), true],
    ["of a register", sourceFrom("register", at, { source: "ukcat" }), true],
    ["of the operator", sourceFrom("operator", at), true],
    ["of a filing of the last three years", filed("2023-12-31"), true],
    ["of an older filing", filed("2023-10-31"), false],
    ["that agents agreed on", sourceFrom("consensus", at), false],
    ["of agents, approved", sourceFrom("operator", at, { source: "consensus" }), false],
    ["of a correction", sourceFrom("operator", at, { source: "correction" }), false],
    ["of no known source", undefined, false],
  ] as const)("%s: %#", (_, source: StoredProvenance | undefined, isWay) => {
    for (const [field, kind, url] of [
      ["donation_url", "donation_page", page],
      ["website", "website", site],
    ] as const) {
      const provenance = source === undefined ? {} : { [field]: source };
      const nonprofit = { [field]: url, provenance, register_records: [row] };
      expect(kindsOf(nonprofit)).toEqual(isWay ? [kind] : []);
      expect(unvouchedAddress(aNonprofit(nonprofit))).toBe(isWay ? null : field);
    }
  });

  test("only where people can be sent there", () => {
    const provenance = { website: sourceFrom("organisation", at) };
    expect(kindsOf({ website: "javascript:alert(1)", provenance })).toEqual([]);
    expect(kindsOf({ website: site, provenance, status: "withdrawn" })).toEqual([]);
  });
});

test("the organisation's own page is first, its website stands for a missing one, USDC is second", () => {
  const own = sourceFrom("organisation", at);
  const usdc_wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
  const provenance = { donation_url: own, website: own };
  const both = { donation_url: page, website: site, usdc_wallet, provenance };
  expect(kindsOf(both)).toEqual(["donation_page", "usdc"]);
  expect(kindsOf({ ...both, donation_url: null })).toEqual(["website", "usdc"]);
  const corrected = sourceFrom("operator", at, { source: "correction" });
  const doubted = { website: own, donation_url: corrected };
  expect(kindsOf({ donation_url: page, website: site, provenance: doubted })).toEqual(["website"]);
});

test("a service stands for those whose number it knows", () => {
  const url = "https://giving.example/us/{number}";
  const link = { scheme: "US-EIN", label: "Give by card", url, fee: "3 %" };
  const registration = { country_code: "US", type: "EIN", registration_number: "53-0196605" };
  const ways = (org_id: string) =>
    waysToGive(aNonprofit({ registrations: [{ ...registration, org_id }] }), {
      baseUrl,
      givingLinks: [link],
    });
  expect(ways("US-EIN-530196605")).toEqual([
    { kind: "service", label: link.label, url: "https://giving.example/us/530196605", fee: "3 %" },
  ]);
  expect(ways("GB-CHC-1089464")).toEqual([]);
});
