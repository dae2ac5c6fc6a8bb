import { describe, expect, test } from "bun:test";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";
import { aStoreOf, theStoreOf, findIn, type Searching } from "#test/support/finding.ts";

const registered = (country_code: string, org_id: string | null, registration_number: string) => [
  { country_code, type: "number", registration_number, org_id },
];
const hawaii = { country_code: "US", region: "Hawaii", city: "Honolulu" };
const records = [
  aNonprofit({
    ...hawaii,
    name: "Hawaii Foodbank Inc",
    causes: ["food-security"],
    registrations: registered("US", "US-EIN-990220699", "99-0220699"),
  }),
  aNonprofit({ ...hawaii, name: "Blood Bank of Hawaii", causes: ["health"] }),
  aNonprofit({ ...hawaii, city: "Hilo", name: "Feeding Neighbours", causes: ["food-security"] }),
  aNonprofit({
    country_code: "GB",
    city: "Reading",
    name: "Wellcome Trust",
    registrations: registered("GB", "GB-CHC-210183", "210183"),
  }),
  aNonprofit({ country_code: "US", name: "Readers for Life", mission: "Reading with children" }),
  aNonprofit({ country_code: "US", name: "Reading Rooms", mission: "Reading aloud" }),
  aNonprofit({
    country_code: "KE",
    city: "Nairobi",
    name: "Maji Project",
    mission: "Pipes and pumps",
    causes: ["water-sanitation"],
    registrations: registered("KE", null, "KE/2001-77"),
  }),
  aNonprofit({ country_code: "US", city: "St. Louis", region: "Missouri", name: "Arch Fund" }),
  aNonprofit({ country_code: "US", name: "Veterans of Foreign Wars of Reno", region: "Nevada" }),
  aNonprofit({ country_code: "US", name: "Kenya Light House", mission: "Clean water and wells" }),
];

const of = (name: string, facts: Record<string, string>, causes: string[] = []) =>
  aNonprofit({ name, causes, register_records: [aRegisterRecord({ facts })] });
const store = await theStoreOf(...records);
const kinds = await theStoreOf(
  of("Amos House", { ntee: "K35" }),
  of("Plenty for All", { ntee: "K31Z" }),
  of("The Race Club", { ntee: "N60" }),
  of("Day One", { ntee: "F42" }),
  of("Good Shepherd", { ntee: "X20", foundation: "10" }),
  of("Maji Trust", {}, ["water-sanitation"]),
  of("Race for the Crisis Centre", {}),
);

const find = (q: string, more?: Searching) => findIn(store, q, more);
const isNotAll = "No profile has all of the words. These have some of them.";

describe("a register number", () => {
  test.each([
    ["99-0220699", "US-EIN-990220699", ["Hawaii Foodbank Inc"]],
    ["990220699", "US-EIN-990220699", ["Hawaii Foodbank Inc"]],
    ["EIN 99 0220699", "US-EIN-990220699", ["Hawaii Foodbank Inc"]],
    ["210183", "GB-CHC-210183", ["Wellcome Trust"]],
    ["GB-CHC-210183", "GB-CHC-210183", ["Wellcome Trust"]],
    ["ke 2001/77", "KE200177", ["Maji Project"]],
    ["99-0000000", "US-EIN-990000000", []],
  ])("%s is %s alone", async (q, number, names) => {
    const understood = { number, place: null, words: [], corrections: [] };
    const page = await find(q);
    expect(page).toMatchObject({ total: names.length, names, exact: true, understood });
    expect(page.note ?? "").toEndWith(names.length > 0 ? "" : `GET /api/organisations/${number}`);
  });

  test("passes the filters, and is words when taken literally", async () => {
    expect((await find("210183", { country: "GB" })).total).toBe(1);
    for (const filter of [{ cause: "health" }, { ghd_aligned: "1" }] as const)
      expect((await find("990220699", filter)).total).toBe(0);
    expect((await find("210183", { literal: true })).understood.number).toBeNull();
    expect((await find("1736")).understood).toMatchObject({ number: null, words: ["1736"] });
  });
});

describe("a place in a query", () => {
  test.each([
    ["food bank honolulu", "Honolulu", ["Hawaii Foodbank Inc"]],
    ["usa food bank", "United States", ["Hawaii Foodbank Inc", "Feeding Neighbours"]],
    ["uk trust", "United Kingdom", ["Wellcome Trust"]],
    ["Alemania", "Germany", []],
    ["ONG en Kenia", "Kenya", ["Maji Project"]],
    ["organisations caritatives au Royaume-Uni", "United Kingdom", ["Wellcome Trust"]],
    ["food in hawaii", "Hawaii", ["Hawaii Foodbank Inc", "Feeding Neighbours"]],
    ["Honolulu, Hawaii blood", "Honolulu, Hawaii", ["Blood Bank of Hawaii"]],
    ["saint louis arch", "St. Louis", ["Arch Fund"]],
    ["pipes in nairobi kenya", "Nairobi, Kenya", ["Maji Project"]],
    ["clean water kenya", "Kenya", ["Maji Project"]],
    ["kenya house", "Kenya", ["Kenya Light House"]],
    ["hilo", "Hilo", ["Feeding Neighbours"]],
    ["food bank oahu", "Oahu", ["Hawaii Foodbank Inc"]],
    ["food bank O\u02BBahu", "Oahu", ["Hawaii Foodbank Inc"]],
    ["blood bank hawai‘i", "Hawaii", ["Blood Bank of Hawaii"]],
    ["charities on the Big Island", "Big Island", ["Feeding Neighbours"]],
    ["banks in Honolulu County", "Honolulu County", ["Blood Bank of Hawaii"]],
    ["trust berkshire", "Berkshire", ["Wellcome Trust"]],
    ["charities in the berkshire", "Berkshire", ["Wellcome Trust"]],
    ["trust in reading", "Reading", ["Wellcome Trust"]],
  ])("%p is about %p", async (q, name, names) => {
    const found = await find(q);
    expect(found.understood.place).toEqual({ name, shown: name });
    expect(found.names).toEqual(names);
  });

  test("says so when nothing is there", async () => {
    expect(await find("charities in Alemania")).toMatchObject({ total: 0, exact: false });
    expect((await find("Germany")).note).toBe("Nothing in Germany matches.");
    expect(await find("trust in Aberystwyth")).toMatchObject({
      matching: 0,
      names: ["Wellcome Trust"],
      note: "Nothing in Aberystwyth matches. These are in United Kingdom.",
    });
  });

  test("is none when more profiles use the word", async () => {
    const { understood, names } = await find("Children’s reading");
    expect(understood).toMatchObject({ place: null, words: ["Children’s", "reading"] });
    expect((await find('"Children’s reading"')).understood.words).toEqual(["Children’s reading"]);
    expect(names[0]).toBe("Readers for Life");
  });

  test("can be switched off", async () => {
    expect(await find("food bank honolulu", { literal: true })).toMatchObject({
      understood: { place: null, words: ["food", "bank", "honolulu"] },
      exact: false,
      note: isNotAll,
    });
  });

  test.each([
    ["blood hilo", "Hawaii", ["Blood Bank of Hawaii"]],
    ["arch honolulu", "United States", ["Arch Fund"]],
    ["pipes nebraska", "other places", ["Maji Project"]],
  ])("in which nothing matches widens: %p to %p", async (q, shown, names) => {
    const found = await find(q);
    expect(found.understood.place?.shown).toBe(shown);
    expect(found).toMatchObject({ names, exact: false });
    expect(found.note).toContain(`These are in ${shown}.`);
  });
});

const named = (...names: string[]) => names.map((name) => aNonprofit({ name }));

test.each([
  ["soup kitchen", ["Amos House", "Plenty for All"]],
  ["food pantry", ["Amos House", "Plenty for All"]],
  ["banco de alimentos", ["Amos House", "Plenty for All"]],
  ["rape crisis", ["Day One"]],
  ["église", ["Good Shepherd"]],
  ["agua potable", ["Maji Trust"]],
  ["eau potable", ["Maji Trust"]],
])("the kind of organisation %p is what registers' codes say", async (q, names) => {
  const found = await findIn(kinds, q);
  expect(found.names.toSorted()).toEqual(names);
  const note = "Some of these lack the words themselves, but are organisations of this kind.";
  expect(found).toMatchObject({ exact: false, note, matching: names.length });
});

test.each(['"soup kitchen"', '"food pantry"'])("the phrase %s names no kind", async (q) => {
  using kitchens = await aStoreOf(
    of("Amos House", { ntee: "K35" }),
    ...named("Hope Soup Kitchen and Food Pantry"),
  );
  expect(await findIn(kitchens, q)).toMatchObject({ total: 1, exact: true, note: null });
});

test("a search for a kind is exact when every result has its words", async () => {
  using banks = await aStoreOf(...named("Island Food Bank", "Food Bank of the Harbour"));
  expect(await findIn(banks, "food bank")).toMatchObject({ total: 2, exact: true, note: null });
});

test.each([
  ["The first lacks some of the words, but is an organisation of this kind.", ["Amos House"]],
  [
    "Some of the first 2 lack some of the words, but are organisations of this kind.",
    ["Amos House", "Amos Home"],
  ],
])(
  "of results before the related ones it is said when they lack the words: %s",
  async (note, names) => {
    using kitchens = await aStoreOf(
      ...names.map((name) => of(name, { ntee: "K35" })),
      ...named("Hope Soup Kitchen"),
    );
    expect(await findIn(kitchens, "amos soup kitchen")).toMatchObject({
      names: [...names, "Hope Soup Kitchen"],
      matching: names.length,
      note: `${note} The others have some of the words, or work for the same cause.`,
    });
  },
);

test("if nothing is in the place, names that have its words are found, and said to be that", async () => {
  using harbours = await aStoreOf(
    ...[1, 2, 3, 4].map((at) =>
      aNonprofit({ country_code: "KE", city: "Nairobi", name: `Trust ${at}` }),
    ),
    aNonprofit({ country_code: "US", name: "Friends of Nairobi" }),
  );
  expect(await findIn(harbours, "Nairobi", { country: "US" })).toMatchObject({
    names: ["Friends of Nairobi"],
    matching: 0,
    exact: false,
    note: "Nothing is in Nairobi. These have it in their name.",
  });
});

test("a kind is not thrown away for a rarer word beside it", async () => {
  expect((await findIn(kinds, "club soup kitchen")).names).toEqual([
    "Amos House",
    "Plenty for All",
    "The Race Club",
  ]);
});

test("small letters may be the initials of a name rather than a rare word", async () => {
  using initials = await aStoreOf(
    aNonprofit({ name: "American Political Science Association" }),
    ...["Aps Forum", "Aps Choir"].map((name) => aNonprofit({ name })),
    aNonprofit({ name: "Quill Press", mission: "Printed for APSA." }),
  );
  expect(await findIn(initials, "apsa")).toMatchObject({
    names: ["American Political Science Association", "Quill Press"],
    exact: true,
    matching: 2,
  });
});

test.each([
  ["an ordinary word", "linton", ["Linton Park Almshouses"]],
  ["the initials of others", "aclu", ["ACLU of Hawaii", "Apostolic Church League Uruguay"]],
])("a word of a name is not given up for %s", async (_, q, names) => {
  using others = await aStoreOf(
    ...named("Linton Park Almshouses", "Clinton Fund", "Clinton Hall", "Clinton House"),
    ...named("ACLU of Hawaii", "Apostolic Church League Uruguay"),
  );
  const page = await findIn(others, q);
  expect(page.names.slice(0, page.matching)).toEqual(names);
});

test("a long name is found despite a word too many, also where it names kinds", async () => {
  const name = "Saint Matthews Roman Catholic Church Corporation";
  using parishes = await aStoreOf(
    ...named(name, "Parade 2024", "Saint Matthews Roman Hall", "Catholic Church Corporation"),
    ...named("Saint Matthews Choir", "Roman Catholic Society", "Church Corporation"),
  );
  expect((await findIn(parishes, `${name} 2024`)).names[0]).toBe(name);
});

test("a mistake that a profile makes too hides no others", async () => {
  using shelters = await aStoreOf(
    aNonprofit({ name: "Crossroads", mission: "A shelter for the homless." }),
    aNonprofit({ name: "Harbour", mission: "A shelter for the homeless." }),
    aNonprofit({ name: "Haven", mission: "Homeless people find shelter." }),
  );
  const { names, exact } = await findIn(shelters, "homless shelter");
  expect(names.toSorted()).toEqual(["Crossroads", "Harbour", "Haven"]);
  expect(exact).toBe(false);
});

test("of what is in a place, what is called so comes before what mentions it", async () => {
  const first = { beneficiaries_per_year: 90_000, verified: 1 } as const;
  using water = await aStoreOf(
    aNonprofit({ name: "Tumaini Circle", mission: "Running water for clinics", ...first }),
    aNonprofit({ name: "Ziwa Water Trust" }),
  );
  const { names } = await findIn(water, "water in Kenya");
  expect(names).toEqual(["Ziwa Water Trust", "Tumaini Circle"]);
});

test("a filter that leaves only what is related does not speak of a place", async () => {
  using small = await aStoreOf(
    aNonprofit({ name: "Quill Press", country_code: "US" }),
    aNonprofit({ name: "Quill Guild", country_code: "KE" }),
    aNonprofit({ name: "Press Office", country_code: "US" }),
  );
  const found = await findIn(small, "quill press", { steady: true, country: "KE" });
  expect(found).toMatchObject({ names: ["Quill Guild"], matching: 0, exact: false });
  expect(found.note).toBe(isNotAll);
});

describe("a mistake", () => {
  test.each([
    ["foodbnk", ["Hawaii Foodbank Inc"]],
    ["wellcome trsut", ["Wellcome Trust"]],
    ["ellcome", ["Wellcome Trust"]],
    ["neighbuors", ["Feeding Neighbours"]],
    ["foreing wasr reno", ["Veterans of Foreign Wars of Reno"]],
    ["hawaii xylophones", []],
  ])("%p is a guess of %j", async (q, names) => {
    const found = await find(q);
    expect(found.names).toEqual(names);
    expect(found).toMatchObject({ exact: false, matching: 0 });
  });

  test("is corrected in a place, too, and says what it was taken for", async () => {
    const { names, note, understood } = await find("foodbnk hawwaii");
    expect(names[0]).toBe("Hawaii Foodbank Inc");
    expect(understood.place?.name).toBe("Hawaii");
    expect(note).toContain('"foodbank" instead of "foodbnk", "hawaii" instead of "hawwaii".');
  });

  test.each(["zzzqqq", "qq", "0"])("that means nothing finds nothing: %p", async (q) => {
    expect(await find(q)).toMatchObject({ total: 0, exact: true, note: null });
  });
});

test.each([
  ["food bank", "Hawaii Foodbank Inc"],
  ["kenya lighthouse", "Kenya Light House"],
  ["St Louis Arch Fund", "Arch Fund"],
  ["vfw", "Veterans of Foreign Wars of Reno"],
  ["the wellcome trust, inc.", "Wellcome Trust"],
])("%p finds %p first", async (q, name) => {
  expect((await find(q)).names[0]).toBe(name);
});
