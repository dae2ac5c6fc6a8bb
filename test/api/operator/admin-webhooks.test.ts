import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { WebhookDelivery, WebhookLog, WebhookTest } from "#content/contract/webhook.ts";
import { noteAttempts, queueEvent } from "#content/operation/webhook-store.ts";
import { aReceiver } from "#test/support/receiver.ts";
import { aService, type TestService } from "#test/support/service.ts";

const token = "a-token-of-an-operator-0123456789";
const bearer = { authorization: `Bearer ${token}` };
const secret = `whsec_${randomBytes(24).toString("base64")}`;
let service: TestService;
let receiver: ReturnType<typeof aReceiver>;

beforeEach(async () => {
  receiver = aReceiver(secret);
  const env = {
    ALMONER_ADMIN_TOKENS: `ada:${token}`,
    ALMONER_WEBHOOK_URLS: `${receiver.url("/a")},${receiver.url("/b")}`,
    ALMONER_WEBHOOK_SECRET: secret,
  };
  service = await aService({ env, context: { clock: () => new Date() } });
});
afterEach(async () => {
  await receiver.stop();
  service.close();
});

const read = async (query = "") =>
  WebhookLog.parse(await (await service.get(`/api/admin/webhooks${query}`, bearer)).json());
const send = (path: string) => service.post(`/api/admin/webhooks/${path}`, {}, bearer);

test("an operator tests every address, and sees what came back", async () => {
  receiver.answerWith(({ path }) => new Response("said", { status: path === "/a" ? 200 : 418 }));
  const tested = WebhookTest.parse(await (await send("test")).json());
  expect(tested.deliveries).toMatchObject([
    {
      url: receiver.url("/a"),
      type: "webhook.test",
      status: "delivered",
      answered_status: 200,
      answer: "said",
      attempts: 1,
    },
    { url: receiver.url("/b"), status: "failed", answered_status: 418 },
  ]);
  expect(receiver.got.every(({ verified }) => verified?.type === "webhook.test")).toBe(true);
  expect((await read()).failed).toBe(1);
  const { rows } = await service.store.raw.execute("SELECT operator, action FROM audit_log");
  expect(rows.map((row) => ({ ...row }))).toMatchObject([
    { operator: "ada", action: "webhook.tested" },
  ]);
});

test("the log is read by status, page by page", async () => {
  const now = new Date();
  await service.store.write(async (tx) => {
    for (let at = 0; at < 7; at++) {
      await queueEvent(
        tx,
        {
          id: `changes-${at}`,
          message: { type: "webhook.test", timestamp: "", data: { message: "" } },
        },
        { urls: [receiver.url("/a")], now },
      );
    }
    await noteAttempts(
      tx,
      [{ id: 3, status: "failed", due_at: null, answered_status: 500, answer: "no" }],
      now,
    );
  });
  const first = await read("?status=pending&limit=4");
  expect(first.deliveries.map(({ id }) => id)).toEqual([7, 6, 5, 4]);
  expect(first).toMatchObject({ pending: 6, failed: 1, next: 4 });
  expect(
    (await read(`?status=pending&limit=4&before=${first.next}`)).deliveries.map(({ id }) => id),
  ).toEqual([2, 1]);
  expect((await service.get("/api/admin/webhooks?status=x", bearer)).status).toBe(400);
});

test("what is finished is sent once more, what is under way is not", async () => {
  receiver.answerWith(() => new Response("", { status: 500 }));
  const { deliveries } = WebhookTest.parse(await (await send("test")).json());
  const id = deliveries[0]?.id ?? 0;
  const again = WebhookDelivery.parse(await (await send(`${id}/resend`)).json());
  expect(again).toMatchObject({ id, status: "pending", attempts: 0, finished_at: null });
  expect((await send(`${id}/resend`)).status).toBe(409);
  expect((await send("999/resend")).status).toBe(404);
  expect((await send("x/resend")).status).toBe(404);
});

test("nothing is sent to an address that is not listed, and nothing at all when webhooks are off", async () => {
  const elsewhere = {
    id: "x",
    message: { type: "webhook.test" as const, timestamp: "", data: { message: "" } },
  };
  await service.store.write(async (tx) => {
    await queueEvent(tx, elsewhere, { urls: ["http://127.0.0.1:9/"], now: new Date() });
    await noteAttempts(
      tx,
      [{ id: 1, status: "failed", due_at: null, answered_status: null, answer: "" }],
      new Date(),
    );
  });
  const refused = await send("1/resend");
  expect(refused.status).toBe(409);
  expect(((await refused.json()) as { code: string }).code).toBe("address_not_listed");
  const off = await aService({ env: { ALMONER_ADMIN_TOKENS: `ada:${token}` } });
  const answer = await off.post("/api/admin/webhooks/test", {}, bearer);
  expect(answer.status).toBe(409);
  expect(off.context.secrets.webhookSecret).toBeNull();
  off.close();
});

test("is for operators only", async () => {
  expect((await service.get("/api/admin/webhooks")).status).toBe(401);
  for (const path of ["test", "1/resend"]) {
    expect((await service.post(`/api/admin/webhooks/${path}`, {})).status).toBe(401);
  }
  expect(receiver.got).toEqual([]);
});
