import dns from "node:dns";
import { Socket } from "node:net";
import { expect, spyOn, test } from "bun:test";
import { aNonprofit } from "#test/support/records.ts";
import { aService } from "#test/support/service.ts";

/** An attacker names addresses inside, so that the service asks there: submitting must ask nowhere. */
const inside = [
  "http://127.0.0.1:9/",
  "http://169.254.169.254/latest/meta-data/",
  "https://intranet.example/",
];

const insideAddress = /127\.0\.0\.1:9\b|port: 9\b|169\.254\.169\.254|intranet\.example/;

const bodies = (url: string): [string, Record<string, unknown>][] => {
  const agent = { agent_id: `scout-${url.length}`, source_url: url };
  const contact = { contact_email: "a@intranet.example", contact_name: "A" };
  return [
    ["/api/enrich/oak", { ...agent, field: "website", value: url }],
    ["/api/enrich/oak", { ...agent, field: "mission", value: `See ${url}` }],
    ["/api/corrections/oak", { field: "website", what_is_wrong: "Gone.", suggested_value: url }],
    ["/api/onboard", { ...contact, claim_slug: "oak", website: url, corrects: "website" }],
    ["/api/onboard", { ...contact, name: "Elm", country: "KE", website: url, mission: "Trees." }],
    [
      "/api/recommend/drafts",
      { ...agent, slug: "oak", recommended_for: ["trees"], why_recommended: "Plants many." },
    ],
  ];
};

test("whatever addresses a submission names, no connection is opened and no name looked up", async () => {
  using service = await aService({
    records: [aNonprofit({ slug: "oak" })],
    env: { ALMONER_TRUSTED_HOPS: "1" },
  });
  const watched = [
    spyOn(globalThis, "fetch"),
    spyOn(Socket.prototype, "connect"),
    spyOn(Bun, "connect"),
    spyOn(dns, "lookup"),
    spyOn(dns.promises, "lookup"),
    spyOn(dns.promises, "resolve4"),
  ];
  const statuses: number[] = [];
  for (const [at, url] of inside.entries()) {
    for (const [path, body] of bodies(url)) {
      const answer = await service.post(path, body, { "x-forwarded-for": `10.1.${at}.1` });
      statuses.push(answer.status);
    }
  }
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(6);
  expect(inside.every((url) => insideAddress.test(url))).toBe(true);
  // What another test of this process still asks for elsewhere does not count.
  const calls = watched.flatMap((spy) => spy.mock.calls.map((call) => Bun.inspect(call)));
  expect(calls.filter((call) => insideAddress.test(call))).toEqual([]);
  for (const spy of watched) spy.mockRestore();
});
