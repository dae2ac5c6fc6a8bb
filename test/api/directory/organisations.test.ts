import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  Organisation,
  OrganisationsAnswer,
  OrganisationsFound,
} from "#content/contract/standing.ts";
import { doAll } from "#content/store/query.ts";
import { saveRecordsWithoutProfile } from "#content/register/import-store.ts";
import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { aNonprofit, anEin, aRegisterRecord } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

let service: TestService;
/** Opens a directory of these nonprofits before each test of a part, or once before all. */
function opened(before: typeof beforeEach, after: typeof afterEach, added: NonprofitRecord[] = []) {
  before(async () => {
    service = await aService({ records: added });
  });
  after(() => service.close());
}

const number = "990305781";
const org_id = `US-EIN-${number}`;
const slug = "hawaii-foodbank";
const lineOf = (register: string, parts: Partial<RegisterRecord> = {}): RegisterRecord =>
  aRegisterRecord({ org_id, register, name: "Hawaii Foodbank Inc", scope: "HI", ...parts });
const foodbank = aNonprofit({
  slug,
  name: "Hawaii Foodbank",
  country_code: "US",
  website: "https://foodbank.example",
  registrations: [anEin("99-0305781")],
  register_records: [lineOf("irs-bmf", { facts: { deductibility: "1" } })],
});
const records = (...some: RegisterRecord[]) =>
  service.store.write((tx) => doAll(tx, saveRecordsWithoutProfile(some)));

const get = (path: string) => service.json(`/api/organisations/${path}`);
const organisation = async (path: string) => Organisation.parse(await get(path));

describe("GET /api/organisations/{org-id}", () => {
  opened(beforeEach, afterEach);

  test("finds an organisation by its number, however it is written", async () => {
    await service.add(foodbank);
    for (const name of ["EIN%2099-0305781", org_id])
      expect(await organisation(name)).toMatchObject({
        org_id,
        found: true,
        profile: { slug, profile_url: `https://almoner.example/nonprofits/${slug}` },
        standing: { value: "registered", register: "irs-bmf", as_of: "2026-04-14" },
        deductibility: { value: "deductible", register: "irs-bmf" },
      });
  });

  test("a number is of the country that is asked for", async () => {
    expect((await organisation("210183?country=United%20Kingdom")).org_id).toBe("GB-CHC-210183");
    const invalid = { status: 400, code: "number_not_valid" };
    expect(await get("210183?country=US")).toMatchObject(invalid);
    expect(await get("210183?country=Kenya")).toMatchObject({ status: 404 });
  });

  test("what is no number says what one looks like, and an unknown register which are known", async () => {
    const invalid = { status: 400, code: "number_not_valid" };
    const detail = expect.stringContaining("51 824 753 556");
    expect(await get("51%20824%20753%20557")).toMatchObject({ ...invalid, detail });
    expect(await get("FR-RNA-W751212517")).toMatchObject({
      status: 404,
      code: "register_not_known",
      detail: expect.stringContaining('"FR-RNA"'),
      known: expect.arrayContaining(["US-EIN", "GB-CHC"]),
    });
    expect(await get("%3Cscript%3E")).toMatchObject({ status: 400 });
  });

  test("tells at once what changed: a profile that came, and registers that were read", async () => {
    expect((await organisation(number)).profile).toBeNull();
    await service.add(foodbank);
    expect((await organisation(number)).profile?.slug).toBe(slug);
    await service.change(slug, { name: "Food for Hawaii" });
    expect((await organisation(number)).name).toBe("Food for Hawaii");
  });
});

describe("of a directory with one profile", () => {
  opened(beforeAll, afterAll, [foodbank]);

  test("/organisations/{number} leads to the profile, or says what is wrong", async () => {
    const { status, headers } = await service.get("/organisations/99-0305781");
    expect([status, headers.get("location")]).toEqual([308, `/nonprofits/${slug}`]);
    const wrong = await service.get("/organisations/12");
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain("nine digits");
    expect((await service.get("/organisations/FR-RNA-W1")).status).toBe(404);
  });

  const post = async (body: unknown) =>
    (await service.post("/api/organisations/standing", body)).json();
  const answerOf = async (body: unknown) => OrganisationsAnswer.parse(await post(body));

  test("POST /api/organisations/standing answers each in its order; a wrong one stops no other; a bare array does", async () => {
    const gone = { org_id: "GB-CHC-210183", state: "removed", name: "Gone Trust" } as const;
    await records(lineOf("ukcat", gone));
    const outcomes = [
      [number, "registered"],
      ["12", "number_not_valid"],
      ["210183", "removed"],
      ["FR-RNA-W1", "register_not_known"],
      ["99-0305781", "registered"],
    ];
    const ids = outcomes.map(([id]) => id);
    const { count, organisations } = await answerOf({ ids });
    expect(count).toBe(5);
    expect(
      organisations.map(({ query, standing, error }) => [query, standing?.value ?? error?.code]),
    ).toEqual(outcomes);
    expect((await answerOf(ids)).organisations).toEqual(organisations);
  });

  test("says once what holds of many: registers, licences and meanings", async () => {
    const ids = [number, "210183", "530196605", "99-0305781"];
    const { registers, meanings, organisations } = await answerOf({ ids });
    for (const [at, one] of organisations.entries()) {
      const whole = await organisation(ids[at] ?? "");
      const meaning = (id: string | undefined) => meanings[id ?? ""];
      expect(meaning(one.standing?.meaning_id)).toBe(whole.standing.meaning);
      expect(meaning(one.deductibility?.meaning_id)).toBe(whole.deductibility?.meaning as string);
      expect(one.giver_answers?.map(({ reason_id }) => meanings[reason_id])).toEqual(
        whole.giver_answers.map(({ reason }) => reason),
      );
      for (const [row, { licence, attribution }] of whole.registers.entries()) {
        const register = registers[one.registers?.[row]?.register ?? ""];
        expect(register).toMatchObject({ licence, attribution });
      }
    }
    expect(JSON.stringify(organisations)).not.toContain("licence");
    expect(new Set(Object.values(meanings)).size).toBe(Object.keys(meanings).length);
  });

  test("takes 1,000 numbers and no more, and what is none is refused without a word of storing", async () => {
    const ids = Array.from({ length: 1_001 }, (_, at) => String(100_000_000 + at));
    expect(await post({ ids: ids.slice(1) })).toMatchObject({ count: 1_000 });
    const detail = expect.stringContaining("at most 1000");
    expect(await post({ ids })).toMatchObject({ code: "invalid_numbers", detail });
    const wrong = [[], [7], {}, [[number]], { ids: [] }, { ids: [990305781] }, { ids: number }];
    for (const body of wrong) {
      const refused = await post(body);
      expect(refused).toMatchObject({ status: 400, code: "invalid_numbers" });
      expect(refused.detail).not.toContain("stored");
    }
  });
});

describe("GET /api/organisations?name=", () => {
  opened(beforeAll, afterAll, [
    foodbank,
    aNonprofit({ name: "Rwanda Wells", country_code: "RW" }),
    aNonprofit({ name: "Hope Kitchen", slug: "one", city: "Oslo" }),
    aNonprofit({ name: "Hope Kitchen", slug: "two", city: "Kisumu" }),
  ]);
  const find = async (query: string) =>
    OrganisationsFound.parse(await service.json(`/api/organisations?${query}`));

  test("finds the one that a misspelt name means, with its numbers and standing", async () => {
    const found = await find("name=Hawai%20Foodbank&country=USA");
    expect(found).toMatchObject({ count: 1, note: null });
    const facts = { identifiers: [org_id], country: "United States", standing: "registered" };
    expect(found.organisations).toMatchObject([{ slug, ...facts, match: true }]);
    expect(await find("name=Hawaii%20Foodbank&country=646")).toMatchObject({ count: 0 });
  });

  test("lists all whom a name may mean, and says how to go on", async () => {
    const { organisations, note } = await find("name=hope%20kitchen&limit=9");
    const matches = organisations.map((one) => `${one.slug} ${one.match}`);
    expect(matches.sort()).toEqual(["one false", "two false"]);
    expect(note).toContain("narrow by country");
    expect((await find("name=Nobody%20Knows%20It")).note).toContain("None is sure");
  });
});
