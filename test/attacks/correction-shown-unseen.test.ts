import { expect, test } from "bun:test";
import { decideReview, reviewQueues } from "#api/operator/requests.ts";
import { CorrectionAnswer } from "#content/contract/correction.ts";
import { profileKey } from "#site/documents/profile.ts";
import { theSite } from "#test/support/compiled-site.ts";
import { addSlug, addSlugs, from, sendValue } from "#test/support/enriching.ts";
import { aService, theService } from "#test/support/service.ts";

// Anyone may say that a value is wrong. What they write reaches an operator and nobody else, and nobody fills the queue alone.

const site = await theSite([{ slug: "kitchen", name: "Hope Kitchen", city: "Nairobi" }]);
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1" },
  context: { store: site.store },
});

const message = "SEND ALL GIFTS TO ME";
const body = {
  field: "mission",
  what_is_wrong: message,
  suggested_value: `${message}: 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin`,
  source_url: "https://thief.example/SEND-ALL-GIFTS-TO-ME",
  contact_email: "send-all-gifts-to-me@thief.example",
};
const rpc = async (name: string, given: object) => {
  const params = { name, arguments: given };
  return (
    await service.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params })
  ).text();
};

/** All that anyone reads of the profile, from the bundle and from the service. */
async function everythingPublic(): Promise<string> {
  const keys = [profileKey(1), "profile-history 1"];
  const files = await Promise.all(keys.map((key) => site.files(key)));
  const paths = [
    "/api/nonprofits/kitchen",
    "/api/history/kitchen",
    "/api/nonprofits",
    "/api/search?q=gifts",
    "/api/needs-enrichment?pending=true",
    "/api/enrichments/stats",
    "/api/agents/leaderboard",
  ];
  const answers = await Promise.all(paths.map(async (path) => (await service.get(path)).text()));
  const tools = [
    await rpc("get_nonprofit", { slug: "kitchen" }),
    await rpc("search_nonprofits", { q: "gifts" }),
    await rpc("needs_enrichment", { pending: true }),
  ];
  return [JSON.stringify(files), ...answers, ...tools].join("\n");
}
const isSaid = (text: string) => /send.all.gifts|thief/i.test(text);
const send = async (field: string, address: string) =>
  CorrectionAnswer.parse(
    await (
      await service.post("/api/corrections/kitchen", { ...body, field }, from(address))
    ).json(),
  );

test("nothing of a correction is public before it is decided, after a rejection, or beside the value that an operator set", async () => {
  expect(isSaid(JSON.stringify(body))).toBe(true);
  const answer = await send("mission", "10.0.0.1");
  expect(isSaid(JSON.stringify(answer))).toBe(false);
  expect(isSaid(await everythingPublic())).toBe(false);
  const id = `correction-${answer.correction_id}`;
  const rejected = { id, decision: "rejected", operator: "ada", reason: "Fraud." } as const;
  expect((await decideReview(service.context, rejected)).ok).toBe(true);
  expect(isSaid(await everythingPublic())).toBe(false);
  const again = await send("tagline", "10.0.0.1");
  const edited = { id: `correction-${again.correction_id}`, decision: "approved" } as const;
  const value = "A warm meal for all";
  expect((await decideReview(service.context, { ...edited, operator: "ada", value })).ok).toBe(
    true,
  );
  const shown = await everythingPublic();
  expect(shown).toContain(value);
  expect(isSaid(shown)).toBe(false);
});

test("one network fills neither the queue of a profile nor that of the operator", async () => {
  const slugs = await addSlugs(service, 11);
  let sent = 0;
  /** Every request from another address of the network: the limit of each address is not what stops it. */
  const correct = async (slug: string, network: string) => {
    const what_is_wrong = `This is wrong, for reason ${sent}.`;
    const headers = from(`${network}.${sent++ & 255}`);
    return service.post(`/api/corrections/${slug}`, { field: "other", what_is_wrong }, headers);
  };
  const [first = "", ...others] = slugs;
  for (let at = 0; at < 5; at++) expect((await correct(first, "10.1.1")).status).toBe(200);
  const refused = await correct(first, "10.1.1");
  expect(await refused.json()).toMatchObject({ status: 409, code: "correction_queue_full" });
  expect((await correct(first, "10.1.2")).status).toBe(200);
  for (const slug of others) {
    for (let at = 0; at < 5; at++) await correct(slug, "10.1.1");
  }
  const [waiting] = await reviewQueues(service.context, "correction");
  expect(waiting?.waiting).toBe(51); // 50 of one network, one of another.
  for (let network = 3; network < 10; network++) {
    for (let at = 0; at < 4; at++) await correct(first, `10.1.${network}`);
  }
  const rows = await service.rows(
    `SELECT count(*) AS n FROM corrections JOIN nonprofits AS n ON n.id = nonprofit_id WHERE n.slug = '${first}'`,
  );
  expect(rows).toMatchObject([{ n: 20 }]);
});

test("what one network may have stored in a day ends, and readers' room is not that of others", async () => {
  using small = await aService({
    env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_STORED_MB_PER_DAY: "1" },
  });
  const slugs = await addSlugs(small, 8);
  const what_is_wrong = "字".repeat(1_000);
  const codes: unknown[] = [];
  for (const [at, slug] of slugs.entries()) {
    for (let more = 0; more < 5; more++) {
      const suggested_value = `${"字".repeat(4_990)} ${more}`;
      const correction = { field: "other", what_is_wrong, suggested_value };
      const headers = from(`10.2.2.${at * 5 + more}`);
      const answer = await small.post(`/api/corrections/${slug}`, correction, headers);
      if (!answer.ok) codes.push((await answer.json()).code);
    }
  }
  expect(codes).toContain("storage_quota");
  const slug = await addSlug(small);
  const city = await sendValue(small, slug, ["a", "city", "Oslo"], from("10.2.2.1"));
  expect(city.status).toBe(200);
});

test("one address sends ten in a minute", async () => {
  const answers: Response[] = [];
  for (let at = 0; at < 11; at++) {
    answers.push(await service.post("/api/corrections/nobody", body, from("10.3.3.3")));
  }
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(404), 429]);
});
