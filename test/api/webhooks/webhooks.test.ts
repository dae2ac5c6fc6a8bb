import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { collectEvents, deliverDue, newReceiver, startSender } from "#api/webhooks/sender.ts";
import { openPost } from "#api/webhooks/post.ts";
import { micro } from "#content/contract/base/money.ts";
import { openLease } from "#content/operation/lease-store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { recordDonation } from "#content/donation/store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { deliveries } from "#content/operation/webhook-store.ts";
import { aReceiver, until } from "#test/support/receiver.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const never = new AbortController().signal;
let service: TestService;
let receiver: ReturnType<typeof aReceiver>;
let now: number;

beforeEach(async () => {
  now = Math.floor(Date.now() / 1_000) * 1_000; // Receivers refuse messages whose time is not the present.
  service = await aService({
    records: [aNonprofit({ slug: "oak" })],
    context: { clock: () => new Date(now) },
  });
  receiver = aReceiver(secret);
});
afterEach(async () => {
  await receiver.stop();
  service.close();
});

const clock = () => new Date(now);
const contextFor = (...urls: string[]) => ({
  store: service.store,
  clock,
  urls,
  baseUrl: "https://almoner.example",
  post: openPost(secret, clock, { timeoutMs: 1_000 }),
  chance: () => 0.5,
  log: { info: () => {}, warn: () => {} },
});

async function change(fields: object, slug = "oak"): Promise<void> {
  const before = await recordBySlug(service.store, slug);
  if (before === null) throw new Error(`no ${slug}`);
  await service.store.write((tx) =>
    saveNonprofits(tx, [{ before, after: { ...before, ...fields } }], {
      origin: "test",
      now: clock(),
    }),
  );
}

let gifts = 0;
const donate = (at = now) =>
  service.store.write((tx) =>
    recordDonation(tx, {
      nonprofit_id: 1,
      amount_micro_usdc: micro(2_500_001n),
      network: "solana:local",
      tx_signature: `sig-${gifts++}`,
      slot: 1,
      commitment: "confirmed",
      source: null,
      recipient: "r",
      destination: `d-${gifts}`,
      mint: "m",
      donor: "donor-wallet",
      memo: "memo",
      settled_at: at,
      recorded_at: at,
    }),
  );

const log = async () => (await deliveries(service.store, {}, 200)).toReversed();

describe("what is sent", () => {
  test("begins with the present, then holds every change once, signed, without values", async () => {
    const context = contextFor(receiver.url());
    await collectEvents(context);
    expect(await log()).toEqual([]); // What happened before is not sent.
    await change({ city: "Oslo" });
    await change({ contact_email: "office@oak-charity.org", mission: "Trees." });
    await collectEvents(context);
    await collectEvents(context);
    await deliverDue(context, newReceiver(receiver.url()), never);
    const [one] = receiver.got;
    expect(receiver.got).toHaveLength(1);
    const changes = one?.verified?.type === "profiles.changed" ? one.verified.data.changes : [];
    expect(changes).toMatchObject([
      {
        slug: "oak",
        kind: "changed",
        fields: ["city"],
        profile_url: "https://almoner.example/nonprofits/oak",
      },
      { slug: "oak", kind: "changed" },
    ]);
    expect(one?.body).not.toContain("office@");
    expect(one?.body).not.toContain("Oslo");
    expect(await log()).toMatchObject([
      { status: "delivered", attempts: 1, answered_status: 200, answer: "thanks" },
    ]);
  });

  test("is cut into messages of at most thirty changes, in order", async () => {
    const context = contextFor(receiver.url());
    await collectEvents(context);
    await service.add(...Array.from({ length: 95 }, () => aNonprofit()));
    while (await collectEvents(context));
    const to = newReceiver(receiver.url());
    while (await deliverDue(context, to, never));
    const sizes = receiver.got.map(({ verified }) =>
      verified?.type === "profiles.changed" ? verified.data.changes.length : 0,
    );
    expect(sizes.toSorted((a, b) => b - a)).toEqual([30, 30, 30, 5]);
    const sequences = receiver.got.flatMap(({ verified }) =>
      verified?.type === "profiles.changed"
        ? verified.data.changes.map(({ sequence }) => sequence)
        : [],
    );
    expect(new Set(sequences).size).toBe(95);
  });

  test("waits until the published profile shows it", async () => {
    let publishedTo = 0;
    const context = { ...contextFor(receiver.url()), publishedTo: () => publishedTo };
    await collectEvents(context);
    await change({ city: "Oslo" });
    await collectEvents(context);
    expect(await log()).toEqual([]);
    publishedTo = 1_000;
    await collectEvents(context);
    expect(await log()).toHaveLength(1);
  });

  test("are donations, each once, also one that became visible late", async () => {
    const context = contextFor(receiver.url());
    await donate();
    await collectEvents(context);
    expect(await log()).toEqual([]);
    now += 1_000;
    const donation = await donate();
    await collectEvents(context);
    now += 60_000;
    await donate();
    await collectEvents(context);
    await donate(now - 30_000); // Another process noted it earlier, and committed it later.
    await collectEvents(context);
    await collectEvents(context);
    const told = (await log()).filter(({ type }) => type === "donation.recorded");
    expect(told.map(({ event_id }) => event_id)).toHaveLength(3);
    const to = newReceiver(receiver.url());
    while (await deliverDue(context, to, never));
    const first = receiver.got.find(({ id }) => id === `donation-${donation.id}`);
    expect(first?.verified?.data).toMatchObject({
      slug: "oak",
      amount_usdc: "2.500001",
      tx_signature: donation.tx_signature,
    });
    expect(first?.body).not.toContain("donor-wallet");
  });

  test("is not what happened more than a day ago, while no one was sending", async () => {
    const context = contextFor(receiver.url());
    await collectEvents(context);
    await change({ city: "Oslo" });
    await donate();
    now += 25 * 3_600_000;
    await change({ city: "Bergen" });
    await collectEvents(context);
    const told = await log();
    expect(told).toHaveLength(1);
    expect(told[0]?.type).toBe("profiles.changed");
  });
});

describe("a receiver that fails", () => {
  const queued = async (...urls: string[]) => {
    const context = contextFor(...urls);
    await collectEvents(context);
    await change({ city: `Town ${Math.random()}` });
    await collectEvents(context);
    return context;
  };

  test.each([500, 503, 429, 404, 301, 308, 204])("with %i", async (status) => {
    const elsewhere = aReceiver(secret);
    const headers = { location: elsewhere.url("/stolen") };
    receiver.answerWith(
      () =>
        new Response(status === 204 ? null : "no\u0000\u202e way\n".repeat(100), {
          status,
          headers,
        }),
    );
    const context = await queued(receiver.url());
    await deliverDue(context, newReceiver(receiver.url()), never);
    const [one] = await log();
    expect(one?.status).toBe(status === 204 ? "delivered" : "pending");
    expect(one?.answered_status).toBe(status);
    expect(one?.answer?.length).toBeLessThanOrEqual(200);
    expect(one?.answer).toBe(status === 204 ? "" : "no way ".repeat(100).slice(0, 200).trim());
    expect(elsewhere.got).toEqual([]); // A redirect is never followed.
    await elsewhere.stop();
  });

  test("is asked again later and later, with the same id and the same body, until it takes it", async () => {
    receiver.answerWith((_, count) => new Response("", { status: count < 4 ? 500 : 200 }));
    const context = await queued(receiver.url());
    const to = newReceiver(receiver.url());
    const dueAt: number[] = [];
    for (let tried = 0; tried < 4; tried++) {
      await deliverDue(context, to, never);
      const [one] = await log();
      if (one?.due_at !== null) dueAt.push(Date.parse(one?.due_at ?? "") - now);
      now += 3 * 3_600_000;
    }
    expect(dueAt).toEqual([5_000, 15_000, 45_000]);
    expect(await log()).toMatchObject([{ status: "delivered", attempts: 4 }]);
    expect(new Set(receiver.got.map(({ id, body }) => id + body)).size).toBe(1);
  });

  test("is given up after twelve attempts, and at once when it says that it is gone", async () => {
    receiver.answerWith(() => new Response("", { status: 500 }));
    const context = await queued(receiver.url());
    const to = newReceiver(receiver.url());
    const started = now;
    for (let tried = 0; tried < 20; tried++) {
      await deliverDue(context, to, never);
      now += 2 * 3_600_000;
      if (now - started > 23 * 3_600_000) now = started + 23 * 3_600_000;
    }
    expect(await log()).toMatchObject([{ status: "failed", attempts: 12, due_at: null }]);
    receiver.answerWith(() => new Response("", { status: 410 }));
    await change({ city: "Another" });
    await collectEvents(context);
    await deliverDue(context, newReceiver(receiver.url()), never);
    expect((await log()).at(-1)).toMatchObject({
      status: "failed",
      attempts: 1,
      answered_status: 410,
    });
  });

  test("by hanging is cut off, and keeps no other waiting", async () => {
    const hanging = aReceiver(secret, () => new Promise(() => {}));
    const context = await queued(hanging.url(), receiver.url());
    const sender = startSender(context);
    await until("the other's delivery", () => receiver.got.length === 1);
    await until("the end of the hanging one", async () =>
      (await log()).some(({ answer }) => answer?.startsWith("no answer within") === true),
    );
    await sender.stop();
    await hanging.stop();
  });

  test("by answering without an end costs no more than the beginning", async () => {
    let sent = 0;
    receiver.answerWith(
      () =>
        new Response(
          new ReadableStream({
            pull: async (controller) => {
              sent += 1;
              controller.enqueue(new TextEncoder().encode("x".repeat(1_000)));
              await Bun.sleep(1);
            },
          }),
        ),
    );
    const context = await queued(receiver.url());
    await deliverDue(context, newReceiver(receiver.url()), never);
    expect(await log()).toMatchObject([{ status: "delivered", answer: "x".repeat(200) }]);
    expect(sent).toBeLessThan(500);
  });

  test("by not being there is left alone for a while, so that a queue keeps its attempts", async () => {
    const url = receiver.url();
    const context = await queued(url);
    await service.add(...Array.from({ length: 400 }, () => aNonprofit()));
    while (await collectEvents(context));
    await receiver.stop();
    const to = newReceiver(url);
    expect(await deliverDue(context, to, never)).toBe(false);
    expect(await deliverDue(context, to, never)).toBe(false);
    const tried = (await log()).filter(({ attempts }) => attempts > 0);
    expect(tried).toHaveLength(4);
    expect(tried[0]?.answered_status).toBeNull();
    expect(tried[0]?.answer).not.toBe("");
    now += 1_001;
    await deliverDue(context, to, never);
    expect((await log()).filter(({ attempts }) => attempts > 0)).toHaveLength(8);
    expect(to.pausedUntilMs - now).toBe(2_000);
  });
});

describe("of several processes", () => {
  test("one holds the work, another takes over when it leaves or dies", async () => {
    const [one, two] = [
      openLease(service.store, clock, { name: "w", ms: 30_000 }),
      openLease(service.store, clock, { name: "w", ms: 30_000 }),
    ];
    expect(await one.hold()).toBe(true);
    expect(await two.hold()).toBe(false);
    now += 25_000;
    expect(await one.hold()).toBe(true); // Renewed.
    now += 25_000;
    expect(await two.hold()).toBe(false);
    await one.leave();
    expect(await two.hold()).toBe(true);
    now += 31_000; // The second died.
    expect(two.isHeld()).toBe(false);
    expect(await one.hold()).toBe(true);
    expect(await two.hold()).toBe(false);
  });

  test("that start at once, one gets it", async () => {
    const leases = Array.from({ length: 20 }, () =>
      openLease(service.store, clock, { name: "x", ms: 30_000 }),
    );
    const held = await Promise.all(leases.map((lease) => lease.hold()));
    expect(held.filter(Boolean)).toHaveLength(1);
  });

  test("two senders send each message once", async () => {
    now = Date.now();
    const context = { ...contextFor(receiver.url()), clock: () => new Date() };
    const senders = [startSender(context), startSender(context)];
    await until(
      "a cursor",
      async () =>
        (await service.store.raw.execute("SELECT 1 FROM webhook_cursors")).rows.length > 1,
    );
    for (let at = 0; at < 5; at++) await change({ city: `Town ${at}` });
    await until(
      "all changes",
      () =>
        receiver.got.flatMap(({ verified }) =>
          verified?.type === "profiles.changed" ? verified.data.changes : [],
        ).length >= 5,
    );
    await Bun.sleep(1_500);
    expect(new Set(receiver.got.map(({ id }) => id)).size).toBe(receiver.got.length);
    await Promise.all(senders.map((sender) => sender.stop()));
    expect((await service.store.raw.execute("SELECT 1 FROM leases")).rows).toEqual([]);
  });
});

test("what goes to an address that is no longer listed is given up, and never sent", async () => {
  const context = contextFor(receiver.url());
  await collectEvents(context);
  await change({ city: "Oslo" });
  await collectEvents(context);
  const other = aReceiver(secret);
  const sender = startSender(contextFor(other.url()));
  await until("giving up", async () => (await log())[0]?.status === "failed");
  expect((await log())[0]?.answer).toBe("not listed any more");
  await sender.stop();
  expect(receiver.got).toEqual([]);
  await other.stop();
});
