import { expect, test } from "bun:test";
import { decideReview, listReviews } from "#api/operator/requests.ts";
import { addSlug, sendValue, submissionOf } from "#test/support/enriching.ts";
import { theService } from "#test/support/service.ts";

// No one keeps an operator busy with one text: one waits per agent and field, and a refused one does not come back.

const service = await theService({ env: { ALMONER_TRUSTED_HOPS: "1" } });

const submit = async (slug: string, agent_id: string, value: string, field = "description") =>
  submissionOf(await sendValue(service, slug, [agent_id, field, value]));
const waiting = async (slug: string) =>
  (await listReviews(service.context, { kind: "prose", limit: 100 })).reviews.filter(
    (review) => review.slug === slug,
  );

test("an agent has one text that waits for a field; programmes may be several", async () => {
  const slug = await addSlug(service);
  await submit(slug, "ada", "First.");
  const second = await submit(slug, "ada", "Second.");
  // Else one agent could have its text sent by others, as the winner.
  const replaced = { reason: "replaced by the same agent", winning_value: null };
  expect(second.prior_rejections[0]).toMatchObject(replaced);
  await submit(slug, "bob", "First.");
  expect((await waiting(slug)).map(({ detail }) => detail["value"])).toEqual(["Second.", "First."]);
  await submit(slug, "ada", "Soup kitchen.", "programme");
  await submit(slug, "ada", "Night school.", "programme");
  expect(await waiting(slug)).toHaveLength(4);
});

test("a refused text is answered with the reason, whoever sends it, and waits for no one", async () => {
  const slug = await addSlug(service);
  await submit(slug, "ada", "Buy now.");
  await submit(slug, "bob", "Buy  now.");
  const [review] = await waiting(slug);
  const reason = "This is an advertisement.";
  const decision = { decision: "rejected", operator: "op", reason } as const;
  await decideReview(service.context, { id: review?.id ?? "", ...decision });
  expect(await waiting(slug)).toEqual([]);
  for (const agent of ["ada", "eve"]) {
    const again = await submit(slug, agent, "Buy now.");
    expect(again).toMatchObject({ status: "rejected", promotion_note: `Rejected: ${reason}` });
    expect(again.message).toContain("1 rejected");
  }
  expect(await waiting(slug)).toEqual([]);
  expect((await submit(slug, "ada", "We teach.")).status).toBe("pending");
});
