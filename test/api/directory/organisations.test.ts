import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  Organisation,
  OrganisationsAnswer,
  OrganisationsFound,
} from "#content/contract/standing.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { doAll } from "#content/store/query.ts";
import { saveRecordsWithoutProfile, saveScopes } from "#content/register/import-store.ts";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, testNow, type TestService } from "#test/support/service.ts";

let service: TestService;
beforeEach(async () => {
  service = await aService();
});
afterEach(() => service.close());

const org_id = "US-EIN-990305781";
const said = (register: string, parts: Partial<RegisterRecord> = {}): RegisterRecord => ({
  org_id,
  register,
  name: "Hawaii Foodbank Inc",
  as_of: "2026-04-14",
  scope: "HI",
  finances: [],
  state: "registered",
  facts: {},
  ...parts,
});
const foodbank = (parts = {}) =>
  aNonprofit({
    slug: "hawaii-foodbank",
    name: "Hawaii Foodbank",
    country_code: "US",
    registrations: [{ country_code: "US", type: "EIN", registration_number: "99-0305781", org_id }],
    register_records: [said("irs-bmf", { facts: { deductibility: "1" } })],
    ...parts,
  });
const records = (...some: RegisterRecord[]) =>
  service.store.write((tx) => doAll(tx, saveRecordsWithoutProfile(some)));

const get = async (path: string) => {
  const response = await service.get(`/api/organisations/${path}`);
  const body = await response.json();
  return { status: response.status, body, read: Organisation.safeParse(body).data };
};

describe("GET /api/organisations/{org-id}", () => {
  test.each(["99-0305781", "990305781", "US-EIN-99-0305781", "EIN%2099-0305781", org_id])(
    "finds an organisation by %s",
    async (number) => {
      await service.add(foodbank());
      const { status, read } = await get(number);
      expect(status).toBe(200);
      expect(read).toMatchObject({
        org_id,
        found: true,
        profile: {
          slug: "hawaii-foodbank",
          profile_url: "https://almoner.example/nonprofits/hawaii-foodbank",
        },
        standing: { value: "registered", register: "irs-bmf", as_of: "2026-04-14" },
        deductibility: { value: "deductible", register: "irs-bmf" },
      });
    },
  );

  test("says what registers know of one without a profile", async () => {
    await records(
      said("irs-revocations", { state: "revoked", scope: "", facts: { revoked: "2020-05-15" } }),
    );
    expect((await get("990305781")).read).toMatchObject({
      found: true,
      name: "Hawaii Foodbank Inc",
      profile: null,
      standing: { value: "revoked", since: "2020-05-15" },
      deductibility: { value: "not deductible" },
    });
  });

  test("a number that no register lists is not listed, and unknown where none was read", async () => {
    expect((await get("990305781")).read).toMatchObject({
      found: false,
      standing: { value: "unknown", register: null },
    });
    const read = { register: "irs-bmf", asOf: { HI: "2026-04-14" }, now: testNow };
    await service.store.write((tx) => saveScopes(tx, read));
    const listed = await get("990305781");
    expect([listed.status, listed.read?.standing.value]).toEqual([200, "not listed"]);
    expect(listed.read?.standing).toMatchObject({ register: "irs-bmf", as_of: "2026-04-14" });
  });

  test("a number is of the country that is asked for", async () => {
    expect((await get("210183?country=United%20Kingdom")).read?.org_id).toBe("GB-CHC-210183");
    expect((await get("210183?country=US")).body).toMatchObject({
      status: 400,
      code: "number_not_valid",
    });
    expect((await get("210183?country=Kenya")).status).toBe(404);
  });

  test("what is no number says what one looks like, and an unknown register which are known", async () => {
    expect((await get("51%20824%20753%20557")).body).toMatchObject({
      status: 400,
      code: "number_not_valid",
      detail: expect.stringContaining("51 824 753 556"),
    });
    expect((await get("FR-RNA-W751212517")).body).toMatchObject({
      status: 404,
      code: "register_not_known",
      detail: expect.stringContaining('"FR-RNA"'),
      known: expect.arrayContaining(["US-EIN", "GB-CHC"]),
    });
    expect((await get("%3Cscript%3E")).status).toBe(400);
  });

  test("tells at once what changed: a profile that came, and registers that were read", async () => {
    expect((await get("990305781")).read?.profile).toBeNull();
    const [stored] = await service.add(foodbank());
    expect((await get("990305781")).read?.profile?.slug).toBe("hawaii-foodbank");
    if (stored === undefined) throw new Error("nothing was stored");
    await service.store.write((tx) =>
      saveNonprofits(tx, [{ before: stored, after: { ...stored, name: "Food for Hawaii" } }], {
        origin: "review",
        now: testNow,
      }),
    );
    expect((await get("990305781")).read?.name).toBe("Food for Hawaii");
  });
});

describe("/organisations/{number}", () => {
  test("leads to the profile", async () => {
    await service.add(foodbank());
    const response = await service.get("/organisations/99-0305781");
    expect([response.status, response.headers.get("location")]).toEqual([
      308,
      "/nonprofits/hawaii-foodbank",
    ]);
  });

  test("says what is wrong with a number", async () => {
    const wrong = await service.get("/organisations/12");
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain("nine digits");
    expect((await service.get("/organisations/FR-RNA-W1")).status).toBe(404);
  });
});

describe("POST /api/organisations/standing", () => {
  const post = async (body: unknown) => {
    const response = await service.post("/api/organisations/standing", body);
    return { status: response.status, body: await response.json() };
  };

  test("answers each in its order; a wrong one stops no other", async () => {
    await service.add(foodbank());
    await records(said("ukcat", { org_id: "GB-CHC-210183", state: "removed", name: "Gone Trust" }));
    const { status, body } = await post({
      ids: ["990305781", "12", "210183", "FR-RNA-W1", "99-0305781"],
    });
    expect(status).toBe(200);
    const { count, organisations } = OrganisationsAnswer.parse(body);
    expect(count).toBe(5);
    expect(
      organisations.map(({ query, standing, error }) => [query, standing?.value ?? error?.code]),
    ).toEqual([
      ["990305781", "registered"],
      ["12", "number_not_valid"],
      ["210183", "removed"],
      ["FR-RNA-W1", "register_not_known"],
      ["99-0305781", "registered"],
    ]);
  });

  test("says once what holds of many: registers, licences and meanings", async () => {
    await service.add(foodbank());
    const ids = ["990305781", "210183", "530196605", "99-0305781"];
    const { body } = await post({ ids });
    const { registers, meanings, organisations } = OrganisationsAnswer.parse(body);
    for (const [at, one] of organisations.entries()) {
      const alone = await service.get(`/api/organisations/${ids[at]}`);
      const whole = Organisation.parse(await alone.json());
      expect(meanings[one.standing?.meaning_id ?? ""]).toBe(whole.standing.meaning);
      expect(meanings[one.deductibility?.meaning_id ?? ""]).toBe(
        whole.deductibility?.meaning as string,
      );
      expect(one.giver_answers?.map(({ reason_id }) => meanings[reason_id])).toEqual(
        whole.giver_answers.map(({ reason }) => reason),
      );
      for (const [row, { licence, attribution }] of whole.registers.entries())
        expect(registers[one.registers?.[row]?.register ?? ""]).toMatchObject({
          licence,
          attribution,
        });
    }
    expect(JSON.stringify(organisations)).not.toContain("licence");
    expect(new Set(Object.values(meanings)).size).toBe(Object.keys(meanings).length);
  });

  test("takes a bare array, and is refused without a word of storing", async () => {
    const { body } = await post(["990305781"]);
    expect(body).toEqual((await post({ ids: ["990305781"] })).body);
    for (const bad of [[], [7], {}, [["990305781"]]]) {
      const refused = await post(bad);
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_numbers" } });
      expect(refused.body.detail).not.toContain("stored");
    }
  });

  test("takes 1,000 numbers, and no more", async () => {
    const ids = Array.from({ length: 1_001 }, (_, at) => String(100_000_000 + at));
    expect((await post({ ids: ids.slice(1) })).body).toMatchObject({ count: 1_000 });
    expect(await post({ ids })).toMatchObject({
      status: 400,
      body: { code: "invalid_numbers", detail: expect.stringContaining("at most 1000") },
    });
    for (const body of [{}, { ids: [] }, { ids: [990305781] }, { ids: "990305781" }]) {
      expect((await post(body)).status).toBe(400);
    }
  });

  test("counts as a read", async () => {
    const limited = await aService({ env: { ALMONER_READS_PER_MINUTE: "2" } });
    const send = async () =>
      (await limited.post("/api/organisations/standing", { ids: ["990305781"] })).status;
    expect([await send(), await send(), await send()]).toEqual([200, 200, 429]);
    limited.close();
  });
});

describe("GET /api/organisations?name=", () => {
  const find = async (query: string) =>
    OrganisationsFound.parse(await (await service.get(`/api/organisations?${query}`)).json());

  test("finds the one that a misspelt name means, with its numbers and standing", async () => {
    await service.add(foodbank(), aNonprofit({ name: "Rwanda Wells", country_code: "RW" }));
    const found = await find("name=Hawai%20Foodbank&country=USA");
    expect(found).toMatchObject({ count: 1, note: null });
    expect(found.organisations).toMatchObject([
      {
        slug: "hawaii-foodbank",
        identifiers: [org_id],
        country: "United States",
        standing: "registered",
        match: true,
      },
    ]);
    expect(await find("name=Hawaii%20Foodbank&country=646")).toMatchObject({ count: 0 });
  });

  test.each(["hawaii-foodbank", "HAWAII-foodbank", "99-0305781", "www.foodbank.example"])(
    "%s in the place of a name is sure",
    async (name) => {
      await service.add({ ...foodbank(), website: "https://foodbank.example" });
      expect(await find(`name=${name}`)).toMatchObject({
        count: 1,
        organisations: [{ slug: "hawaii-foodbank", match: true }],
      });
    },
  );

  test("lists all whom a name may mean, and says how to go on", async () => {
    await service.add(
      aNonprofit({ name: "Hope Kitchen", slug: "one", city: "Oslo" }),
      aNonprofit({ name: "Hope Kitchen", slug: "two", city: "Kisumu" }),
    );
    const { organisations, note } = await find("name=hope%20kitchen&limit=9");
    expect(new Set(organisations.map(({ slug }) => slug))).toEqual(new Set(["one", "two"]));
    expect(organisations.some(({ match }) => match)).toBe(false);
    expect(note).toContain("narrow by country");
    expect((await find("name=Nobody%20Knows%20It")).note).toContain("None is sure");
  });
});
