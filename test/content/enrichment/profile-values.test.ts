import { describe, expect, test } from "bun:test";
import type { ProfileValues } from "#content/contract/profile-change.ts";
import { readProfileValues } from "#content/enrichment/profile-values.ts";
import { fail, ok } from "#content/contract/base/result.ts";

const read = (values: ProfileValues) => readProfileValues(values, { thisYear: 2026 });

const numbers = { founded_year: 1998, team_size: 4 };
const unknown = { description: null, beneficiaries_per_year: null, location: null };

const longest = { programs: [{ name: "A".repeat(160), ...unknown }] };

describe("what an operator sets", () => {
  test.each<[ProfileValues, object]>([
    [{ name: "Hope   Kitchen" }, { name: "Hope Kitchen" }],
    [{ country: "Kenya" }, { country_code: "KE" }],
    [{ country: "" }, { country_code: null }],
    [{ city: null, region: undefined }, { city: null }],
    [
      { donation_url: " https://hope.example/give " },
      { donation_url: "https://hope.example/give" },
    ],
    [numbers, numbers],
    [{ causes: ["education", "education"] }, { causes: ["education"] }],
    [longest, longest],
  ])("%j is saved as %j", (values, saved) => {
    expect(read(values)).toEqual(ok(saved));
  });

  test.each<[ProfileValues, string]>([
    [{ name: "Hope\u0007Kitchen" }, "values.name"],
    [{ country: "Nowhere" }, "values.country"],
    [{ donation_url: "javascript:alert(1)" }, "values.donation_url"],
    [{ founded_year: 2040 }, "values.founded_year"],
    [{ website: "https://bit.ly/3XYZabc" }, "values.website"],
    [{ donation_url: "https://bit.ly/3XYZabc" }, "values.donation_url"],
    [{ programs: [{ name: "A\u202Eschool", ...unknown }] }, "values.programs"],
    [{ programs: [{ name: "A".repeat(161), ...unknown }] }, "values.programs"],
  ])("%j is refused, and %s named", (values, path) => {
    const outcome = read({ ...values, city: "Oslo" });
    expect(outcome).toEqual(fail([{ path, message: expect.any(String) }]));
  });
});
