import { expect, test } from "bun:test";
import { OperatorNumbers } from "#content/contract/operator.ts";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import { curate } from "#test/support/curate.ts";
import { theOperatedService, shown, textsOf } from "#test/support/desk.ts";
import { aNonprofit } from "#test/support/records.ts";

const startMs = Date.parse("2026-06-01T12:00:00Z");
let nowMs = startMs;
const service = await theOperatedService({ context: { clock: () => new Date(nowMs) } });
for (const slug of ["wells", "pumps"])
  await curate(service, aNonprofit({ slug, name: slug, causes: ["water-sanitation"] }));
await service.aSlug({ slug: "camp" });

const numbers = async (days: number) =>
  OperatorNumbers.parse(await service.ask(`numbers?days=${days}`));

const as = (agent: string) => ({ "user-agent": agent });
const after = (ms: number) => {
  nowMs = startMs + ms;
};

/** What a donate route does once it has asked for a payment. */
const askToPay = (agent: string, slug: string, memo: string) =>
  noteFollowUp(service.context, new Request("http://localhost/", { headers: as(agent) }), {
    action: "donate",
    slug,
    intent_id: memo,
  });

test("calls become profiles, payment requirements and donations", async () => {
  const recommend = (agent: string, query: string) =>
    service.get(`/api/recommend?${query}`, as(agent));
  await recommend("A", "cause=water-sanitation&intent=donate");
  await recommend("B", "cause=water-sanitation&intent=donate");
  await recommend("C", "q=wells");
  await recommend("D", "cause=animals");
  await recommend("E", "cause=my%20own%20words%20of%20a%20cause");
  after(59_900);
  await service.get("/api/nonprofits/wells", as("A"));
  await service.get("/api/nonprofits/wells", as("A"));
  await service.get("/api/nonprofits/camp", as("B"));
  await service.get("/api/nonprofits/nobody", as("C"));
  await service.get("/api/nonprofits/wells", as("Nobody"));
  askToPay("A", "wells", "memo-1");
  askToPay("A", "wells", "memo-2");
  after(60_100);
  await service.get("/api/nonprofits/wells", as("C"));
  askToPay("C", "wells", "memo-3");
  await service.context.recommendationLog.flush();
  await service.store.raw.execute(`
    INSERT INTO donations (id, nonprofit_id, amount_micro_usdc, network, tx_signature, destination, memo, settled_at, recorded_at)
    VALUES ('d1', 1, 2500000, 'n', 's1', 'x', 'memo-2', 0, 0), ('d2', 1, 1000000, 'n', 's2', 'x', NULL, 0, 0)`);

  const { funnel, opened_by_rank } = await numbers(1);
  const steps = { answered: 2, profile: 2, donate: 1, donation: 1, given_usdc: 2.5 };
  const none = { profile: 0, donate: 0, donation: 0, given_usdc: 0 };
  expect(funnel).toEqual([
    { by: "all", value: "", calls: 5, ...steps, answered: 3 },
    { by: "phase", value: "1", calls: 5, ...steps, answered: 3 },
    { by: "intent", value: "discover", calls: 3, answered: 1, ...none },
    { by: "intent", value: "donate", calls: 2, ...steps },
    { by: "cause", value: "water-sanitation", calls: 2, ...steps },
    { by: "cause", value: "(another)", calls: 1, answered: 0, ...none },
    { by: "cause", value: "(none)", calls: 1, answered: 1, ...none },
    { by: "cause", value: "animals", calls: 1, answered: 0, ...none },
  ]);
  expect(opened_by_rank).toEqual([
    { rank: expect.any(Number), opened: 1 },
    { rank: null, opened: 1 },
  ]);
  const ada = await service.signedIn();
  const page = await ada.get("/desk/charts?days=7");
  const row = (at: number) => textsOf(page, `#funnel tbody tr:nth-child(${at}) > *`).map(shown);
  expect(page.$("#funnel tbody tr").length).toBe(8);
  expect(row(1)).toEqual(["all", "5", "3", "2 (66.7 %)", "1 (33.3 %)", "1 (33.3 %)", "2.5"]);
  expect(row(5).slice(0, 3)).toEqual(["cause water-sanitation", "2", "2"]);
  const said = page.$("#funnel").text();
  expect(said).toContain("not recommended: 1");
  // Neither who asked nor what was typed is in it.
  expect(said + JSON.stringify(funnel)).not.toMatch(/my own words|client/);
  nowMs += 86_400_000;
  expect((await numbers(1)).funnel).toEqual([
    { by: "all", value: "", calls: 0, answered: 0, ...none },
  ]);
});
