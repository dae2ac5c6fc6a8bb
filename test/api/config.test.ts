import { resolve } from "node:path";
import { describe, expect, test } from "bun:test";
import { BadSetting, readConfig, unknownSettings } from "#api/config.ts";
import { filePathOf } from "#content/store/embedded-client.ts";

const [annToken, bobToken] = [
  "0123456789abcdef0123456789abcdef",
  "fedcba98765432100123456789abcdef",
];

describe("the settings", () => {
  test("are complete without any variable", () => {
    expect(readConfig({})).toMatchObject({
      port: 8080,
      host: "127.0.0.1",
      baseUrl: "http://localhost:8080",
      databaseUrl: `file://${resolve(".almoner/store.db")}`,
      readsPerMinute: 600,
      trustedHops: 0,
      network: "local",
      consensus: "agents",
      recommendationPhase: 1,
      adminTokens: [],
    });
  });

  test("name the store in the data folder, whatever signs its path has", () => {
    for (const dataDir of ["/my data/100%", "/data/d%20é", "/data/#1?"]) {
      const { databaseUrl } = readConfig({ ALMONER_DATA_DIR: dataDir });
      expect(filePathOf(databaseUrl)).toBe(`${dataDir}/store.db`);
    }
  });

  test("take an empty variable for an absent one, and make an origin of the base URL", () => {
    expect(readConfig({ ALMONER_PORT: "", ALMONER_BASE_URL: "" }).port).toBe(8080);
    const { baseUrl } = readConfig({ ALMONER_BASE_URL: "https://Almoner.example/" });
    expect(baseUrl).toBe("https://almoner.example");
  });

  test("know operators by name and token", () => {
    const tokens = `ann:${annToken},bob:${bobToken}`;
    expect(readConfig({ ALMONER_ADMIN_TOKENS: tokens }).adminTokens).toEqual([
      { name: "ann", token: annToken },
      { name: "bob", token: bobToken },
    ]);
  });

  test("make a header of the line that is sent with each purge", () => {
    const header = "Authorization: Bearer a:b";
    const { purgeHeaders } = readConfig({ ALMONER_PURGE_HEADER: header });
    expect(purgeHeaders).toEqual({ Authorization: "Bearer a:b" });
    expect(readConfig({}).purgeHeaders).toEqual({});
  });

  test.each([
    ["ALMONER_PORT", "eighty"],
    ["ALMONER_PORT", "70000"],
    ["ALMONER_BASE_URL", "almoner.example"],
    ["ALMONER_BASE_URL", "https://almoner.example/path"],
    ["ALMONER_READS_PER_MINUTE", "many"],
    ["ALMONER_TRUSTED_HOPS", "1.5"],
    ["ALMONER_NETWORK", "bitcoin"],
    ["ALMONER_COMMITMENT", "processed"],
    ["ALMONER_ADMIN_TOKENS", "ann:short"],
    ["ALMONER_ADMIN_TOKENS", `ann:${annToken},bob:${annToken}`],
    ["ALMONER_CONSENSUS", "nobody"],
    ["ALMONER_RECOMMENDATION_PHASE", "4"],
    ["ALMONER_DATABASE_URL", "postgres://localhost"],
    ["ALMONER_REBUILD_SCHEDULE", "every night"],
    ["ALMONER_REBUILD_SCHEDULE", "0 0 31 2 *"],
    ["ALMONER_S3_URL", "https://store.example/books"],
    ["ALMONER_S3_URL", "s3://books"], // Without its keys.
    ["ALMONER_PURGE_HEADER", "Bearer a"],
  ])("stop with the name of %s when it is %p", (name, value) => {
    const reading = () => readConfig({ [name]: value });
    expect(reading).toThrow(BadSetting);
    expect(reading).toThrow(name);
  });

  test.each(["ALMONER_WEBHOOK_URLS", "ALMONER_WEBHOOK_SECRET"])(
    "stop with the name of the feed when %s is left over",
    (name) => {
      for (const words of [BadSetting, name, "/changes/state.json"])
        expect(() => readConfig({ [name]: "x" })).toThrow(words);
    },
  );

  test("know services for gifts by their templates", () => {
    const link = { scheme: "US-EIN", label: "By card", url: "https://giving.example/us/{number}" };
    const read = (links: unknown) =>
      readConfig({ ALMONER_GIVING_LINKS: JSON.stringify(links) }).givingLinks;
    expect(readConfig({}).givingLinks).toEqual([]);
    expect(read([link])).toEqual([link]);
    for (const url of ["javascript:{number}", "http://a.example/{number}", "https://a.example/"]) {
      expect(() => read([{ ...link, url }])).toThrow("ALMONER_GIVING_LINKS: send an https URL");
    }
    expect(() => readConfig({ ALMONER_GIVING_LINKS: "US-EIN" })).toThrow("send a JSON array");
  });

  test("never repeat a bad value, for it may be secret", () => {
    const reading = () => readConfig({ ALMONER_ADMIN_TOKENS: "ann:hunter2" });
    expect(reading).toThrow(BadSetting);
    expect(reading).not.toThrow("hunter2");
  });

  test("need RPC URLs for a network that is not local", () => {
    expect(() => readConfig({ ALMONER_NETWORK: "solana" })).toThrow("ALMONER_SOLANA_RPC_URLS");
    const urls = "https://one.example,https://two.example";
    const config = readConfig({ ALMONER_NETWORK: "solana", ALMONER_SOLANA_RPC_URLS: urls });
    expect(config.solanaRpcUrls).toEqual(["https://one.example", "https://two.example"]);
  });

  test("tell a slip of the pen", () => {
    expect(unknownSettings({ ALMONER_PROT: "1", ALMONER_PORT: "1", HOME: "/" })).toEqual([
      "ALMONER_PROT",
    ]);
  });
});
