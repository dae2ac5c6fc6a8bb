import { describe, expect, test } from "bun:test";
import {
  comparedNumber,
  knownSchemes,
  readOrgId,
  readRegistrationNumber,
} from "#content/register/org-id.ts";

const orgIdOf = (text: string, country?: string) => {
  const read = readOrgId(text, country);
  return read.ok ? read.value.org_id : read.failure.kind;
};

const ein = "99-0305781";

test.each([
  [
    "US-EIN-990305781",
    ["us-ein-990305781", `US-EIN-${ein}`, ein, "990305781", "９９０３０５７８１"],
  ],
  ["US-EIN-990305781", ["99\u20130305781", `EIN ${ein}`, "EIN: 990305781", `Tax ID #${ein}`]],
  ["GB-CHC-210183", ["UK-CHC-210183", "GB 210183", "210183"]],
  ["GB-CHC-1089464", ["1089464", "Registered charity no. 1089464"]],
  ["GB-CHC-210183-1", ["210183-1"]],
  ["GB-SC-SC041666", ["SC041666", "sc 041666", "Scottish charity SC041666"]],
  ["GB-SC-SC041666", ["Charity number SC041666"]],
  ["GB-NIC-100012", ["NIC100012", "100012"]],
  ["AU-ABN-51824753556", ["51 824 753 556", "ABN: 51 824 753 556"]],
  ["XS-SAMPLE-0000007", ["SAMPLE-0000007"]],
  ["XS-SAMPLE-2-0000007", []],
])("%s is written so, and as %j", (org_id, texts) => {
  expect([org_id, ...texts].filter((text) => orgIdOf(text) !== org_id)).toEqual([]);
});

test.each([
  ["210183", "GB", "GB-CHC-210183"],
  ["100012", "GB", "GB-NIC-100012"],
  ["990305781", "US", "US-EIN-990305781"],
  ["990305781", "GB", "number_not_valid"],
  ["210183", "US", "number_not_valid"],
  ["210183-1", "US", "number_not_valid"],
  ["210183", "KE", "register_not_known"],
  // A word that names the register says more than where the organisation stands.
  ["EIN 99-0305781", "KE", "US-EIN-990305781"],
  ["US 990305781", "GB", "US-EIN-990305781"],
])("%s of %s is %s", (text, country, org_id) => {
  expect(orgIdOf(text, country)).toBe(org_id);
});

describe("a text that is no number", () => {
  test.each([
    ["EIN 99-030578", "an EIN (United States) has nine digits"],
    ["EIN 99-03057811", "an EIN (United States) has nine digits"],
    ["51 824 753 557", "an ABN (Australia) has eleven digits that check each other"],
    ["SC4166", "a Scottish charity number has SC and six digits"],
  ])("%s: of its register", (text, look) => {
    const failure = { kind: "number_not_valid", looks: [expect.stringContaining(look)] };
    expect(readOrgId(text)).toMatchObject({ ok: false, failure });
  });

  test.each(["12345", "", "-", "food bank", "12/a", "<1234567>", `${"0".repeat(60)}12345`])(
    "%p: of any register",
    (text) => {
      const read = readOrgId(text);
      expect(read).toMatchObject({ failure: { kind: "number_not_valid" } });
      expect(JSON.stringify(read)).toMatch(/EIN.*England.*Scottish.*Northern Ireland.*ABN/);
    },
  );

  test.each([
    ["FR-RNA-W751212517", "FR-RNA"],
    ["GB-COH-01234567", "GB-COH"],
    ["CA-CRA_ACR-119219814", "CA-CRA_ACR"],
    ["KVK 41009723", "KVK"],
    ["US-CHC-210183", "US-CHC"],
    ["USCHC210183", "USCHC"],
  ])("%s: of the unknown register %s", (text, prefix) => {
    const failure = { kind: "register_not_known", prefix, known: [...knownSchemes] };
    expect(readOrgId(text)).toMatchObject({ ok: false, failure });
  });
});

test.each([
  ["530196605", "US", "US-EIN-530196605", "53-0196605"],
  ["sc 012345", "GB", "GB-SC-SC012345", "SC012345"],
  ["NIC100001", "GB", "GB-NIC-100001", "100001"],
  ["51 824 753 556", "AU", "AU-ABN-51824753556", "51824753556"],
  ["12 345 678 901", "AU", null, "12 345 678 901"],
  [" 12/77 ", "KE", null, "12/77"],
  ["EIN 530196605", "KE", "US-EIN-530196605", "53-0196605"],
])("the number %s of %s", (text, country, org_id, registration_number) => {
  expect(readRegistrationNumber(text, country)).toMatchObject({ org_id, registration_number });
});

test.each([
  ["KE/2001/77", "ke 2001-77", true],
  ["No. 12", "NO12", true],
  ["KE/2001/77", "KE/2001/78", false],
  ["\u2116 7", "\u21167", true],
])("the numbers %s and %s are the same: %p", (one, other, same) => {
  expect(comparedNumber(one) === comparedNumber(other)).toBe(same);
});
