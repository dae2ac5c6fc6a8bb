import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import { sinceFrom } from "#scripts/report/funnel.ts";
import { curate } from "../support/curate.ts";
import { aNonprofit } from "../support/records.ts";
import { aService, beside, type TestService } from "#test/support/service.ts";
import { runScript } from "#test/support/processes.ts";

const startMs = Date.parse("2026-06-01T12:00:00Z");
let nowMs = startMs;
let service: TestService;

beforeAll(async () => {
  service = await aService({ context: { clock: () => new Date(nowMs) } });
  for (const slug of ["wells", "pumps"]) {
    await curate(service, aNonprofit({ slug, name: slug, causes: ["water-sanitation"] }));
  }
  await service.add(aNonprofit({ slug: "camp" }));
});
afterAll(() => service.close());

const report = (...args: string[]) => runScript("report", args, beside(service));

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

test("the report of an empty log says so", async () => {
  expect((await report()).out).toContain("No recommendation was asked for since");
  expect(JSON.parse((await report("--json")).out)).toMatchObject({ total: { calls: 0 } });
}, 30_000);

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

  const told = JSON.parse((await report("--json", "--since", "2026-05-30")).out);
  const steps = { answered: 2, profile: 2, donate: 1, donation: 1, given_usdc: 2.5 };
  expect(told).toMatchObject({
    kept_days: 90,
    total: { calls: 5, ...steps, answered: 3 },
    by_phase: [{ phase: 1, calls: 5 }],
    by_intent: [
      { intent: "discover", calls: 3, profile: 0 },
      { intent: "donate", calls: 2, ...steps },
    ],
    by_cause: [
      { cause: "water-sanitation", calls: 2, ...steps },
      { cause: "(another)", calls: 1, answered: 0 },
      { cause: "(none)", calls: 1, answered: 1, profile: 0 },
      { cause: "animals", calls: 1, answered: 0, profile: 0 },
    ],
    opened_by_rank: [
      { rank: expect.any(Number), opened: 1 },
      { rank: null, opened: 1 },
    ],
  });
  const { out } = await report();
  expect(out).toMatch(/calls +answered +profile +donate request +donation/);
  expect(out).toMatch(/^all +5 +3 +2 \(66\.7 %\) +1 \(33\.3 %\) +1 \(33\.3 %\)$/m);
  expect(out).toMatch(/^cause water-sanitation +2 +2 /m);
  expect(out).toContain("2.5 USDC in all");
  expect(out).toContain("not recommended: 1");
  // Neither who asked nor what was typed is in it.
  expect(out + JSON.stringify(told)).not.toMatch(/my own words|"client"/);
  expect(JSON.parse((await report("--json", "--since", "2026-06-02")).out).total.calls).toBe(0);
}, 30_000);

describe("--since", () => {
  const now = new Date("2026-06-10T00:00:00Z");
  test.each([
    ["2d", "2026-06-08T00:00:00Z"],
    ["12h", "2026-06-09T12:00:00Z"],
    ["30m", "2026-06-09T23:30:00Z"],
    ["2026-06-01", "2026-06-01T00:00:00Z"],
    ["2026-06-01T10:00:00", "2026-06-01T10:00:00Z"],
    ["2026-06-01T10:00:00Z", "2026-06-01T10:00:00Z"],
  ])("%s is %s", (text, instant) => {
    expect(sinceFrom(text, now)).toBe(Date.parse(instant));
  });

  test.each(["", "yesterday", "2026", "2026-13-40", "5w", "-3d"])("%p is neither", (text) => {
    expect(sinceFrom(text, now)).toBeNull();
  });

  test("that cannot be read ends with code 2", async () => {
    const { code, err } = await report("--since", "soon");
    expect([code, err]).toEqual([2, expect.stringContaining("--since")]);
    expect((await report("--help")).out).toContain("funnel");
  }, 30_000);
});
