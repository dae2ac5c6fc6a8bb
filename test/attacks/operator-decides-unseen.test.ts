import { expect, test } from "bun:test";
import { decideReview, listReviews } from "#api/operator/requests.ts";
import { History } from "#content/contract/enrichment-answers.ts";
import { addSlug, sendValue, submissionOf } from "#test/support/enriching.ts";
import { theService } from "#test/support/service.ts";

// What an operator decided is said to be the operator's, to readers and to the agents that lost; and an operator can.

let held = false;
const counts = { release: 3, profilesTo: 0, listsTo: 0, failures: 0, silentMs: null, pid: 0 };
const publication = () => ({ ...counts, held });
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1" },
  context: { publication, waitForPublication: () => Promise.resolve(null) },
});

const submit = async (slug: string, agent_id: string, field: string, value: string) =>
  submissionOf(await sendValue(service, slug, [agent_id, field, value]));
const approve = async (slug: string, kind: "prose" | "contested", value: string) => {
  const { reviews } = await listReviews(service.context, { kind, limit: 100 });
  const id = reviews.find((review) => review.slug === slug)?.id ?? "";
  const done = { id, decision: "approved", operator: "op", value } as const;
  expect((await decideReview(service.context, done)).ok).toBe(true);
};
const history = async (slug: string) =>
  History.parse(await service.json(`/api/history/${slug}`)).changes;

test("a history says who decided, and which words are the operator's", async () => {
  const slug = await addSlug(service);
  for (const agent of ["ada", "bob"]) await submit(slug, agent, "region", "Viken");
  await submit(slug, "ada", "mission", "food 4 all");
  await approve(slug, "prose", "Food for all.");
  await submit(slug, "ada", "city", "Oslo");
  await submit(slug, "bob", "city", "Bergen");
  await approve(slug, "contested", "Hamar");
  const [city, mission, region] = await history(slug);
  expect(city).toMatchObject({ by: "operator", fields: ["city", "provenance"] });
  expect(city).not.toHaveProperty("agreed");
  expect(mission).toMatchObject({ by: "operator", agreed: [{ edited: true }] });
  expect(region).toMatchObject({ by: "agents" });
  expect(JSON.stringify(region)).not.toContain("edited");
});

test("losers of an operator's decision hear that an operator decided", async () => {
  const slug = await addSlug(service);
  await submit(slug, "ada", "city", "Oslo");
  await submit(slug, "bob", "city", "Bergen");
  await approve(slug, "contested", "Oslo");
  expect((await submit(slug, "cid", "city", "Hamar")).prior_rejections).toMatchObject([
    { agent: "bob", reason: "an operator decided for another value", winning_value: "Oslo" },
  ]);
});

test("while a rollback holds publishing, no one is told that it takes seconds", async () => {
  for (const [isHeld, said] of [
    [false, "within seconds"],
    [true, "Publishing is paused"],
  ] as const) {
    held = isHeld;
    const slug = await addSlug(service);
    await submit(slug, "ada", "city", "Oslo");
    expect((await submit(slug, "bob", "city", "Oslo")).promotion_note).toContain(said);
  }
});

test("an operator can take out, put right and merge any profile, and no one else can", async () => {
  const slug = await addSlug(service);
  const into = await addSlug(service);
  const token = service.context.secrets.adminTokens[0]?.token;
  const change = (verb: string, body: object, authorization = `Bearer ${token}`) =>
    service.post(
      `/api/admin/nonprofits/${slug}/${verb}`,
      { reason: "A test.", ...body },
      { authorization },
    );
  for (const [verb, body] of [
    ["edit", { values: { city: "Oslo" } }],
    ["withdraw", {}],
    ["restore", {}],
    ["merge", { into }],
  ] as const) {
    expect((await change(verb, body, "Bearer nobody-has-this-token")).status).not.toBe(200);
    expect([verb, (await change(verb, body)).status]).toEqual([verb, 200]);
  }
  expect(await service.live(slug)).toMatchObject({ merged_into: into });
  const kinds = (await history(slug)).map(({ kind, by }) => `${kind} by ${by}`);
  expect(kinds.slice(0, 4)).toEqual([
    "withdrawn by operator",
    "restored by operator",
    "withdrawn by operator",
    "changed by operator",
  ]);
});
