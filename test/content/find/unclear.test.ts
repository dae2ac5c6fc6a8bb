import { describe, expect, test } from "bun:test";
import type { SearchQuery } from "#content/contract/search.ts";
import { SearchIndex } from "#content/find/index-store.ts";
import { corrected, literalReading } from "#content/find/reading.ts";
import { typedWords } from "#content/find/query.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theStoreOf, findIn } from "#test/support/finding.ts";

const inUs = (city: string, region: string, name: string) =>
  aNonprofit({ country_code: "US", region, city, name });
const abroad = (country_code: string, city: string, name: string) =>
  aNonprofit({ country_code, region: null, city, name });
const records = [
  inUs("San Francisco", "California", "Bay Food Bank"),
  inUs("Boston", "Massachusetts", "Harbor Food Bank"),
  inUs("Portland", "Maine", "Lobster Food Bank"),
  inUs("Portland", "Oregon", "Rose Food Bank"),
  inUs("Gary", "Indiana", "Steel Food Bank"),
  inUs("Austin", "Texas", "Bat Food Bank"),
  inUs("Austin", "Texas", "Clean Water Austin"),
  inUs("Walla Walla", "Washington", "Onion Food Bank"),
  inUs("Chicago", "Illinois", "No Kid Hungry"),
  inUs("Memphis", "Tennessee", "St Jude Hospital"),
  inUs("Minneapolis", "Minnesota", "Be The Match"),
  inUs("Denver", "Colorado", "New York New York Club"),
  inUs("Denver", "Colorado", "New York Club"),
  abroad("CA", "Toronto", "Maple Food Bank"),
  abroad("KE", "Nairobi", "Clean Water Kenya"),
  abroad("NO", "Oslo", "Fjord Food Bank"),
  abroad("BE", "Ghent", "Chocolate Food Bank"),
];

const store = await theStoreOf(...records);

const find = (q: string, more?: Partial<SearchQuery>) => findIn(store, q, more);

const isNotAll = "No profile has all of the words. These have some of them.";

describe("a code", () => {
  test.each([
    ["food bank San Francisco, CA", "San Francisco, California", "Bay Food Bank"],
    ["food bank Boston, MA", "Boston, Massachusetts", "Harbor Food Bank"],
    ["food bank Portland, ME", "Portland, Maine", "Lobster Food Bank"],
    ["food bank Portland OR", "Portland, Oregon", "Rose Food Bank"],
    ["food bank gary IN", "Gary, Indiana", "Steel Food Bank"],
    ["food bank gary in", "Gary", "Steel Food Bank"],
    ["food bank austin tx", "Austin, Texas", "Bat Food Bank"],
    ["FOOD BANK AUSTIN TX", "Austin, Texas", "Bat Food Bank"],
    ["water in austin texas usa", "Austin, Texas, United States", "Clean Water Austin"],
    ["food bank austin, texas, usa", "Austin, Texas, United States", "Bat Food Bank"],
    ["food bank Austin, TX, USA", "Austin, Texas, United States", "Bat Food Bank"],
    ["food bank TX", "Texas", "Bat Food Bank"],
    ["TX food bank", "Texas", "Bat Food Bank"],
    ["food bank Toronto, CA", "Toronto, Canada", "Maple Food Bank"],
    ["food bank oslo no", "Oslo, Norway", "Fjord Food Bank"],
    ["clean water KE", "Kenya", "Clean Water Kenya"],
  ])("or a name in %p says %p", async (q, name, first) => {
    const { understood, names } = await find(q);
    expect(understood.place?.name).toBe(name);
    expect(names[0]).toBe(first);
  });

  test.each([
    ["NO KID HUNGRY", "No Kid Hungry"],
    ["ST JUDE", "St Jude Hospital"],
    ["BE THE MATCH", "Be The Match"],
    ["NO kid hungry", "No Kid Hungry"],
    ["food bank no", "Bay Food Bank"],
    ["MA the match", "Be The Match"],
    ["CO food bank", "Bay Food Bank"],
    ["CA clean food bank", "Bay Food Bank"],
    ["food bank in", "Bay Food Bank"],
  ])("is no place in %p", async (q, first) => {
    const { understood, names } = await find(q);
    expect(understood.place).toBeNull();
    expect(names).toContain(first);
  });
});

describe("a repeated word", () => {
  test("belongs to the name of a place, or of a nonprofit", async () => {
    expect(await find("food bank walla walla")).toMatchObject({
      understood: { place: { name: "Walla Walla" } },
      names: ["Onion Food Bank"],
    });
    expect((await find("New York New York Club")).names[0]).toBe("New York New York Club");
    expect((await find("new york club")).names[0]).toBe("New York Club");
  });

  test("is corrected once", async () =>
    expect((await find("hugnry hugnry")).note?.split("instead of")).toHaveLength(2));
});

describe("an unknown word", () => {
  test("is not found by the words beside it", async () => {
    const words = ["water", "zzqqq"];
    const found = await find("water zzqqq");
    expect(found.names.toSorted()).toEqual(["Clean Water Austin", "Clean Water Kenya"]);
    expect(found).toMatchObject({ exact: false, note: isNotAll, understood: { words } });
  });

  test("is not found by the place beside it", async () => {
    const { total, understood } = await find("zzqqq austin");
    expect({ total, words: understood.words }).toEqual({ total: 0, words: ["zzqqq"] });
  });

  test("that may be initials is found without a note", async () => {
    expect(await find("nkh chicago")).toMatchObject({ names: ["No Kid Hungry"], note: null });
    expect(await find("nkh zzqqq")).toMatchObject({ names: ["No Kid Hungry"], note: isNotAll });
  });

  test("is one of three at most that are corrected", async () => {
    const index = new SearchIndex(store);
    const words = typedWords("hugnry watre hospitla bakn lobstre");
    const meant = await corrected(index, await literalReading(index, words));
    expect(meant?.corrections.map((one) => one.meant)).toEqual(["hungry", "water", "hospital"]);
  });
});

test("words of the directory are kept until they are forgotten", async () => {
  const index = new SearchIndex(store);
  const words = () => index.wordsFrom("lob");
  const first = await words();
  expect(first).toEqual(["lobster"]);
  expect(await words()).toBe(first);
  index.forget();
  expect(await words()).not.toBe(first);
});
