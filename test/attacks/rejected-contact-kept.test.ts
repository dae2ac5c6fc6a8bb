import { expect, test } from "bun:test";
import { eraseRejectedContacts } from "#content/enrichment/contact-store.ts";
import { theOnboardingService, operatorTokens } from "#test/support/onboarding.ts";
import { until } from "#test/support/until.ts";
import { aNonprofit } from "#test/support/records.ts";
import { startOnboardingSweep } from "#api/open-service.ts";

const dayMs = 86_400_000;
const service = await theOnboardingService();

let made = 0;
/** A claim by someone whose name and address stand nowhere else, decided as asked. */
async function aClaim(decision?: "approve" | "reject", email = `person-${made}@private.example`) {
  const slug = `private-${made++}`;
  await service.add(aNonprofit({ slug }));
  const sent = { claim_slug: slug, contact_email: email, contact_name: "Grace Private" };
  const { submission_id } = await service.submit(sent);
  const id = `onboarding-${submission_id}`;
  if (decision !== undefined) await service.decide(id, decision, { reason: "because" });
  return { slug, email, id };
}

const bearer = { authorization: `Bearer ${operatorTokens.ada}` };
const erase = async (body: object) => {
  const response = await service.post("/api/admin/contacts/erase", body, bearer);
  return { status: response.status, body: await response.json() };
};

/** Everything that the store holds, as one text. */
async function stored(): Promise<string> {
  const tables = await service.store.raw.execute(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
  );
  const found: unknown[] = [];
  for (const { name } of tables.rows) {
    found.push(await service.rows(`SELECT * FROM "${String(name)}"`));
  }
  return JSON.stringify(found);
}

/** One round of what the service does every minute. */
async function sweep(done: () => Promise<boolean>): Promise<void> {
  const running = startOnboardingSweep(service.context);
  await until("the sweep", done);
  await running.stop();
}

test("the contact of a rejected request is gone after 90 days, without a trace of it in the log", async () => {
  const rejected = await aClaim("reject");
  const waiting = await aClaim();
  service.pass(90 * dayMs - 1);
  const marker = await aClaim("reject");
  await sweep(() => Promise.resolve(true));
  expect(await stored()).toContain(rejected.email);
  service.pass(1);
  await sweep(async () => !(await stored()).includes(rejected.email));
  const left = await stored();
  expect(left).toContain(waiting.email);
  expect(left).toContain(marker.email);
  const log = await (await service.admin(`/api/admin/audit?subject=${rejected.id}`)).json();
  expect(log.entries[0]).toMatchObject({ action: "contact.erased", operator: "the clock" });
});

test("an operator erases one request, or all of an address, at once", async () => {
  const one = await aClaim("reject");
  expect(await erase({ review: one.id })).toEqual({
    status: 200,
    body: { erased: [one.id], waiting: [], profiles: [] },
  });
  expect(await stored()).not.toContain(one.email);
  const email = "grace@private.example";
  const all = [await aClaim("reject", email), await aClaim("approve", email)];
  const waiting = await aClaim(undefined, email);
  expect(await erase({ email: "Grace@private.example" })).toEqual({
    status: 200,
    body: {
      erased: expect.arrayContaining(all.map(({ id }) => id)),
      waiting: [waiting.id],
      profiles: [all[1]?.slug],
    },
  });
  expect((await erase({ review: waiting.id })).body.waiting).toEqual([waiting.id]);
  expect((await erase({ review: "onboarding-ab" })).status).toBe(404);
  for (const body of [{}, { review: one.id, email }, { email: "x" }, { review: "prose-1" }]) {
    expect((await erase(body)).status).toBe(400);
  }
});

test("what agents sent as an address goes with it, and 90 days after it was rejected", async () => {
  const { slug } = await aClaim();
  const send = (email: string, agent_id: string) =>
    service.post(`/api/enrich/${slug}`, {
      field: "contact_email",
      value: email,
      agent_id,
      source_url: `https://private.example/contact?mail=${email}`,
    });
  const asked = "Asked@private.example";
  const old = "old@private.example";
  const decided = async (email: string) => {
    const answer = await (await send(email, `bot-${email[0]}`)).json();
    const { submission_id } = answer.submissions[0];
    await service.store.raw.execute({
      sql: "UPDATE submissions SET status = 'rejected', reason = 'expired', decided_at = ? WHERE id = ?",
      args: [service.context.clock().getTime(), submission_id],
    });
    return `submission-${submission_id}`;
  };
  const rejected = [await decided(asked), await decided(old)];
  const waiting = await (await send("asked@private.example", "bot-w")).json();
  const { body } = await erase({ email: "asked@private.example" });
  expect(body).toEqual({
    erased: [rejected[0]],
    waiting: [`submission-${waiting.submissions[0].submission_id}`],
    profiles: [],
  });
  const now = service.context.clock().getTime();
  const eraseBefore = (ms: number) => eraseRejectedContacts(service.store, ms);
  expect(await eraseBefore(now)).toEqual([]);
  expect(await eraseBefore(now + 1)).toEqual([rejected[1] ?? ""]);
  const rows = await service.rows(
    "SELECT value, normalised_value, winning_value, source_url FROM submissions WHERE status = 'rejected'",
  );
  expect(JSON.stringify(rows).toLowerCase()).not.toContain("@private.example");
});

test("an address that an operator puts into a profile does not stay in the log for ever", async () => {
  const { slug } = await aClaim();
  const email = "edited@private.example";
  const path = `/api/admin/nonprofits/${slug}/edit`;
  const body = { values: { contact_email: email }, reason: "They called." };
  expect((await service.post(path, body, bearer)).status).toBe(200);
  const log = await (await service.admin(`/api/admin/audit?subject=${slug}`)).text();
  expect(log).not.toContain(email);
  expect(log).toContain("e…@private.example");
});
