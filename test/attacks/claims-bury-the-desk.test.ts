import { expect, test } from "bun:test";
import { ReviewList, ReviewQueues } from "#content/contract/review.ts";
import { placeGivenUp } from "#content/onboarding/onboard.ts";
import { theOnboardingService, operatorTokens } from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";

// Claims of one profile without end, so that no operator finds the organisation's own.

const service = await theOnboardingService();
await service.add(aNonprofit({ slug: "kitchen", website: "https://kitchen.example" }));

const operator = { authorization: `Bearer ${operatorTokens.ada}` };
const claim = async (name: string, from: string) => {
  service.pass(1_000);
  const body = {
    claim_slug: "kitchen",
    contact_email: `${name}@kitchen.example`,
    contact_name: name,
  };
  const answer = await service.post("/api/onboard", body, { "x-forwarded-for": from });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { submission_id: string; status_url: string };
};
const queued = async () => {
  const answer = await service.get("/api/admin/reviews?kind=onboarding&limit=100", operator);
  return ReviewList.parse(await answer.json()).reviews.map(({ id }) =>
    id.slice("onboarding-".length),
  );
};

test("20 claims from one /48 leave five, and a newcomer's is read first once its host is proven", async () => {
  const own = await claim("director", "192.0.2.7");
  const flood: string[] = [];
  for (let at = 0; at < 20; at++) {
    flood.push((await claim(`impostor-${at}`, `2001:db8:1:${at.toString(16)}::1`)).submission_id);
  }
  expect(await queued()).toEqual([own.submission_id, ...flood.slice(-5)]);

  const late = await claim("treasurer", "198.51.100.7");
  await service.prove(late.submission_id, "kitchen.example");
  expect((await queued())[0]).toBe(late.submission_id);

  const queues = await service.get("/api/admin/queues", operator);
  const [onboarding] = ReviewQueues.parse(await queues.json()).queues;
  expect(onboarding).toEqual({ kind: "onboarding", waiting: 7, left_out: 15 });
});

test("whose claim gave up its place reads why, and what to send", async () => {
  const first = await claim("early", "203.0.113.1");
  for (let at = 0; at < 5; at++) await claim(`later-${at}`, "203.0.113.2");
  const token = first.status_url.split("#")[1] ?? "";
  const status = await service.get("/api/onboard/status", { authorization: `Bearer ${token}` });
  expect(await status.json()).toMatchObject({
    status: "rejected",
    reason: expect.stringContaining("prove control of the organisation's host"),
  });
});

test("where 50 wait, the network with most gives up its oldest, and none with a proven host", () => {
  const waiting = Array.from({ length: 51 }, (_, at) => ({
    id: `claim-${at}`,
    network: `network-${at < 4 ? "most" : at}`,
    proven_host: at === 0 ? "kitchen.example" : null,
    first_approved_by: at === 1 ? "ada" : null,
    created_at: at,
  }));
  expect(placeGivenUp(waiting, "newcomer")).toBeNull(); // Neither the proven one nor the half-approved takes a place.
  const full = [
    ...waiting,
    {
      id: "claim-51",
      network: "other",
      proven_host: null,
      first_approved_by: null,
      created_at: 51,
    },
  ];
  expect(placeGivenUp(full, "newcomer")).toBe("claim-2");
});
