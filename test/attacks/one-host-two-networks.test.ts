import { expect, test } from "bun:test";
import { networkPart } from "#api/http/client.ts";
import { aService } from "#test/support/service.ts";
import { from, sendValue, submissionOf } from "#test/support/enriching.ts";
import { aNonprofit } from "#test/support/records.ts";

// One host votes twice in the strict mode, or reads as often as it likes: by both of its addresses, or in one batch.

const spellings = [
  ["mapped", "::ffff:192.0.2.7"],
  ["mapped, in hex", "::FFFF:c000:0207"],
  ["NAT64", "64:ff9b::192.0.2.7"],
  ["NAT64, in hex", "[64:ff9b::c000:207]:443"],
  ["6to4", "2002:c000:207:1234::1"],
  ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdf8"],
] as const;

test.each(spellings)("%s is the IPv4 address in it", (_, address) => {
  expect(networkPart(address)).toBe("192.0.2.7");
});

test.each([
  ["pending", "an IPv4 and an IPv6 address", "192.0.2.7", "2001:db8:1::7"],
  ["pending", "an IPv4 address and a 6to4 network of it", "192.0.2.7", "2002:c000:207::1"],
  ["applied", "two IPv4 networks", "192.0.2.7", "198.51.100.7"],
  ["applied", "two IPv6 networks", "2001:db8:1::7", "2001:db8:2::7"],
] as const)(
  "in the strict mode a value is %s that came from %s",
  async (status, _, first, second) => {
    using service = await aService({
      env: { ALMONER_CONSENSUS: "networks", ALMONER_TRUSTED_HOPS: "1" },
      records: [aNonprofit({ slug: "oak" })],
    });
    const send = (agent: string, address: string) =>
      sendValue(service, "oak", [agent, "city", "Oslo"], from(address));
    await send("one", first);
    expect((await submissionOf(await send("two", second))).status).toBe(status);
  },
);

test("each call of an MCP batch counts as a read", async () => {
  using service = await aService({ env: { ALMONER_READS_PER_MINUTE: "16" } });
  const call = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "list_causes", arguments: {} },
  });
  const batch = Array.from({ length: 10 }, (_, id) => call(id));
  const answers = [];
  for (let sent = 0; sent < 2; sent++) {
    answers.push(...(await (await service.post("/mcp", batch)).json()));
  }
  const failed = answers.filter(({ result }) => result.isError === true);
  expect([answers.length, failed.length]).toEqual([20, 4]);
  expect(JSON.stringify(failed[0])).toContain("rate_limited");
});
