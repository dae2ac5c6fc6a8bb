import { describe, expect, test } from "bun:test";
import { AuditLog } from "#content/contract/operator.ts";
import { ReviewItem, ReviewList, ReviewQueues } from "#content/contract/review.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import { revertAgent } from "#content/operator/revert.ts";
import { theOperatedService } from "#test/support/desk.ts";
import { aNonprofit } from "#test/support/records.ts";

const service = await theOperatedService();
const { ask, submit } = service;
const added = await service.add(...Array.from({ length: 7 }, () => aNonprofit()));
const slugs = added.map(({ slug }) => slug);

const list = async (query: string) => ReviewList.parse(await ask(`reviews?${query}`));
const waiting = async (kind: string) =>
  ReviewQueues.parse(await ask("queues")).queues.find((queue) => queue.kind === kind)?.waiting;

/** Every id of a queue, page by page; `between` runs after each page. */
async function walk(query: string, between: (ids: string[]) => Promise<void> = async () => {}) {
  const ids: string[] = [];
  for (let after = "", pages = 0; pages < 50; pages++) {
    const page = await list(`${query}&after=${encodeURIComponent(after)}`);
    const found = page.reviews.map(({ id }) => id);
    ids.push(...found);
    if (page.next === null) return ids;
    after = page.next;
    await between(found);
  }
  throw new Error("a queue without an end");
}

describe("a queue", () => {
  test("is walked through page by page, nothing twice and nothing left out", async () => {
    for (const slug of slugs) {
      await submit(slug, "bot-a", "mission", `Food for ${slug}.`);
      for (const city of ["Oslo", "Bergen", "Tromsø"])
        await submit(slug, `bot-${city}`, "city", city);
      for (const agent of ["bot-1", "bot-2"]) await submit(slug, agent, "region", "Vestland");
      for (const agent of ["bot-3", "bot-4"]) await submit(slug, agent, "region", "Troms");
      const claim = { claim_slug: slug, contact_email: "office@claim.example" };
      await service.post("/api/onboard", claim, service.from());
    }
    for (const kind of ["prose", "contested", "revert", "onboarding"]) {
      const whole = (await list(`kind=${kind}&limit=200`)).reviews.map(({ id }) => id);
      expect(whole).toHaveLength(7);
      expect(await walk(`kind=${kind}&limit=3`)).toEqual(whole);
      expect(await waiting(kind)).toBe(7);
    }
    const all = await walk("limit=5");
    expect(all).toHaveLength(28);
    expect(new Set(all).size).toBe(28);
  });

  test("goes on where it was when the place itself was decided meanwhile", async () => {
    const before = (await list("kind=contested&limit=200")).reviews.map(({ id }) => id);
    const walked = await walk("kind=contested&limit=3", async (ids) => {
      const last = ids.at(-1) ?? "";
      const done = await service.tell(`reviews/${last}/reject`, { reason: "neither" });
      expect(done.status).toBe(200);
    });
    expect(walked).toEqual(before);
    expect(await waiting("contested")).toBe(5);
  });

  test("begins again for a cursor that is none", async () => {
    const [first] = (await list("kind=prose&limit=1")).reviews;
    for (const after of ["x", "prose:x", "prose:-1", "contested:", "%00", "revert:9-9-9"]) {
      expect((await list(`kind=prose&limit=1&after=${after}`)).reviews).toEqual([first as never]);
    }
  });

  test("is empty for a kind of which nothing waits, and names like those of objects are none", async () => {
    const names = ["constructor-1", "toString-1", "prose-", "prose-1-2", "-"];
    for (const id of [...names, "contested-1-mission", "onboarding-zz"]) {
      expect((await ask(`reviews/${id}`)).status).toBe(404);
      expect((await service.tell(`reviews/${id}/approve`)).status).toBe(404);
    }
  });
});

describe("one review", () => {
  test("of prose shows old and new, checks, source and flags", async () => {
    const [slug = ""] = slugs;
    await submit(slug, "b\u043et-x", "tagline", "The best charity");
    const { reviews } = await list("kind=prose&limit=200");
    const { id } = reviews.at(-1) ?? { id: "" };
    const item = ReviewItem.parse(await ask(`reviews/${id}`));
    expect(item).toMatchObject({
      slug,
      comparison: [{ field: "tagline", before: null, after: "The best charity" }],
      sources: ["https://a.example/about"],
      flags: ["mixed_script_id"],
      editing: { field: "tagline", required: false, current: "The best charity" },
    });
    expect(item.checks).toMatchObject([
      { name: "form", outcome: "passed" },
      { name: "wording", outcome: "noted" },
      { name: "source", outcome: "passed" },
    ]);
  });

  test("shows what is live where a value is disputed, and the choices where it is contested", async () => {
    const [disputed] = (await list("kind=revert&limit=1")).reviews;
    expect(disputed).toMatchObject({
      detail: { live: { value: "Vestland", agents: ["bot-1", "bot-2"] } },
      editing: null,
    });
    const [contested] = (await list("kind=contested&limit=1")).reviews;
    expect(contested?.editing?.choices).toEqual(["Oslo", "Bergen", "Tromsø"]);
  });
});

test("the audit log is read by operator, action and subject, page by page", async () => {
  await service.store.write(async (tx) => {
    for (let at = 0; at < 7; at++) {
      const operator = at % 2 === 0 ? "grace" : "linus";
      const entry = { operator, action: "test.act", subject: `thing-${at}` };
      await logOperator(tx, { ...entry, detail: { at }, at: at * 1_000 });
    }
  });
  const read = async (query: string) => AuditLog.parse(await ask(`audit?${query}`));
  const found = (log: AuditLog) => log.entries.map(({ detail }) => detail["at"]);
  expect(found(await read("operator=grace"))).toEqual([6, 4, 2, 0]);
  const walked: unknown[] = [];
  for (let before = ""; ;) {
    const page = await read(`action=test.act&limit=3${before}`);
    walked.push(...found(page));
    if (page.next === null) break;
    before = `&before=${page.next}`;
  }
  expect(walked).toEqual([6, 5, 4, 3, 2, 1, 0]);
  expect(await read("subject=thing-3&operator=linus")).toMatchObject({ count: 1, next: null });
  expect(await read("subject=' OR 1=1")).toMatchObject({ count: 0 });
});

test("undoing stops after this many, and says that there is more", async () => {
  for (const slug of slugs) {
    for (const agent of ["bot-8", "bot-9"])
      await submit(slug, agent, "website", `https://${slug}.example`);
  }
  const asked = { agent_id: "bot-8", operator: "ada", reason: "made up" };
  expect(await revertAgent(service.context, { ...asked, submissionsMax: 5 })).toMatchObject({
    value: { submissions: 7, complete: false },
  });
  expect(await revertAgent(service.context, asked)).toMatchObject({
    value: { submissions: 0, complete: true },
  });
});
