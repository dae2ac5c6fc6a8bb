import { expect, test } from "bun:test";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { theService } from "#test/support/service.ts";
import { from, sendValue } from "#test/support/enriching.ts";
import { aNonprofit } from "#test/support/records.ts";

// A stranger guesses the stored e-mail address of a profile and reads in the answer, or elsewhere, whether it was right.

const secret = "jane@oak-charity.org";
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1" },
  records: [
    aNonprofit({ slug: "given", contact_email: secret }),
    aNonprofit({ slug: "agreed" }),
    aNonprofit({ slug: "waiting" }),
    aNonprofit({
      slug: "untouched",
      contact_email: secret,
      provenance: { contact_email: sourceFrom("organisation", 0) },
    }),
  ],
});

const guess = async (slug: string, agent: string, value: string, address = "10.6.0.1") =>
  (await sendValue(service, slug, [agent, "contact_email", value], from(address))).json();

/** An answer without what differs between any two submissions. */
const words = (answer: object) =>
  JSON.stringify(answer).replaceAll(/"(?:submission_id|request_id)":(?:\d+|"[^"]*")/g, "");

const wrong = "john@oak-charity.org";

test("a right guess is answered like a wrong one, however often it comes", async () => {
  const answers = [];
  for (const [agent, value] of [
    ["a", secret],
    ["b", wrong],
    ["c", "Jane@Oak-Charity.org"],
    ["c", secret],
    ["d", wrong],
    ["d", wrong],
  ] as const) {
    answers.push(words(await guess("given", agent, value)));
  }
  expect(new Set(answers).size).toBe(1);
});

test("also where agents agreed on it, and for those who did", async () => {
  await guess("agreed", "one", secret);
  const [live] = (await guess("agreed", "two", secret)).submissions;
  expect(live.status).toBe("applied");
  const answers = [
    await guess("agreed", "one", secret),
    await guess("agreed", "one", secret),
    await guess("agreed", "three", secret),
    await guess("agreed", "four", wrong),
    await guess("agreed", "four", wrong),
  ];
  expect(new Set(answers.map(words)).size).toBe(1);
});

test("nor does an address that waits answer: not under the agent's own id, not to test data", async () => {
  await guess("waiting", "first", secret);
  const asFirst = [secret, wrong].map((value) => guess("waiting", "first", value, "10.7.0.1"));
  const [right, other] = await Promise.all(asFirst);
  expect(right).toMatchObject({ code: "pending_from_another_network" });
  expect(words(other)).toEqual(words(right));
  const asTest = [
    await guess("waiting", "test-1", wrong),
    await guess("waiting", "test-2", secret),
  ];
  expect(new Set(asTest.map(words)).size).toBe(1);
  expect(asTest[1]).toMatchObject({ submissions: [{ confidence: 1, consensus: false }] });
  const stats = await (await service.get("/api/agents/leaderboard")).text();
  expect(stats).not.toContain('"confidence":2,"status":"pending"');
});

test("nothing else that is public tells them apart", async () => {
  const before = await service.json("/api/nonprofits/untouched");
  for (const agent of ["e", "f"]) {
    await guess("untouched", `right-${agent}`, secret);
    await guess("untouched", `wrong-${agent}`, wrong);
  }
  expect(await service.json("/api/nonprofits/untouched")).toEqual(before);
  for (const path of [
    "/api/enrichments/stats",
    "/api/agents/leaderboard",
    "/api/agents/exemplars",
    "/api/history/untouched",
    "/api/needs-enrichment?limit=50",
  ]) {
    const text = await (await service.get(path)).text();
    const alike = (who: string) =>
      text
        .split(/[{}]/)
        .filter((part) => part.includes(`"${who}-`))
        .map((part) =>
          part.replaceAll(/(?:right|wrong)-[ef]/g, "").replaceAll(/"created_at.*/g, ""),
        );
    expect([path, alike("right")]).toEqual([path, alike("wrong")]);
  }
});
