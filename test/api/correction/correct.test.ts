import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseContactsOf, eraseOldContacts } from "#content/correction/erase-contacts.ts";
import { decideReview, expireWaiting, findReview, listReviews } from "#api/operator/requests.ts";
import {
  CorrectionAnswer,
  type CorrectionField,
  CorrectionStatus,
} from "#content/contract/correction.ts";
import { History } from "#content/contract/enrichment-answers.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

let service: TestService;
let now = new Date("2026-06-01T12:00:00Z");
beforeAll(async () => {
  service = await aService({
    env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_STORED_MB_PER_DAY: "0" },
    context: { clock: () => now },
  });
  await service.add(
    aNonprofit({ slug: "gone", status: "withdrawn" }),
    aNonprofit({ slug: "merged", status: "withdrawn", merged_into: "kitchen" }),
  );
});
afterAll(() => service.close());

let caller = 0;
/** Each from a network of its own. */
const from = () => ({ "x-forwarded-for": `10.${caller >> 8}.${caller++ & 255}.1` });
const post = (slug: string, body: unknown, headers = {}) =>
  service.post(`/api/corrections/${slug}`, body, { ...from(), ...headers });
const wrongCity = { field: "city", what_is_wrong: "They moved.", suggested_value: "Kisumu" };
const addSlug = async (values = {}) => {
  const [record] = await service.add(aNonprofit({ city: "Nairobi", ...values }));
  return record?.slug ?? "";
};
const send = async (slug: string, body: object = wrongCity, headers = {}) => {
  const response = await post(slug, body, headers);
  return CorrectionAnswer.parse(await response.json());
};
const statusOf = async ({ status_url }: CorrectionAnswer) => {
  const authorization = `Bearer ${status_url?.split("#")[1]}`;
  const response = await service.get("/api/corrections/status", { authorization });
  expect(response.headers.get("cache-control")).toBe("no-store");
  return CorrectionStatus.parse(await response.json());
};
const decide = (
  { correction_id }: CorrectionAnswer,
  decision: "approved" | "rejected",
  given: { value?: string; reason?: string } = {},
) =>
  decideReview(service.context, {
    id: `correction-${correction_id}`,
    decision,
    operator: "ada",
    ...given,
  });
const history = async (slug: string) =>
  History.parse(await (await service.get(`/api/history/${slug}`)).json()).changes;

describe("what is sent", () => {
  test("waits for an operator, with a link that shows so", async () => {
    const slug = await addSlug();
    const answer = await send(slug);
    expect(answer).toMatchObject({ slug, field: "city", status: "pending_review" });
    expect(answer.status_url).toMatch(
      /^https:\/\/almoner\.example\/corrections\/status#[\w-]{43}$/,
    );
    expect(await statusOf(answer)).toMatchObject({ slug, status: "pending_review", reason: null });
  });

  test("again is the same, with its link under the key of the first only", async () => {
    const slug = await addSlug();
    const one = { ...from(), "idempotency-key": "k-1" };
    const first = await send(slug, wrongCity, one);
    expect(await send(slug, wrongCity, one)).toEqual(first);
    expect(await send(slug)).toMatchObject({
      correction_id: first.correction_id,
      status_url: null,
    });
    const reused = await post(slug, { ...wrongCity, what_is_wrong: "Else." }, one);
    expect(await reused.json()).toMatchObject({ status: 409, code: "idempotency_key_reused" });
    const bad = await post(slug, wrongCity, { "idempotency-key": "a b" });
    expect(await bad.json()).toMatchObject({ status: 400, code: "invalid_idempotency_key" });
  });

  test.each([
    ["nobody", 404, "nonprofit_not_found", ""],
    ["gone", 410, "nonprofit_withdrawn", "withdrawn"],
    ["merged", 410, "nonprofit_withdrawn", "merged into kitchen"],
  ])("for %s is refused", async (slug, status, code, words) => {
    const response = await post(slug, wrongCity);
    expect(await response.json()).toMatchObject({
      status,
      code,
      detail: expect.stringContaining(words),
    });
  });

  test.each([
    { ...wrongCity, suggested_value: "Nairobi" },
    { field: "website", what_is_wrong: "There is none." },
  ])("says what the profile says already: %j", async (body) => {
    const response = await post(await addSlug({ website: null }), body);
    expect(await response.json()).toMatchObject({ status: 409, code: "nothing_to_correct" });
  });

  test("wrongly is told what is wrong, and what to send", async () => {
    const response = await post(await addSlug(), { field: "city", what_is_wrong: "" });
    expect(await response.json()).toMatchObject({
      status: 400,
      code: "invalid_correction",
      errors: [{ path: "what_is_wrong", message: "what_is_wrong is empty." }],
      example: { method: "POST", body: { field: "city" } },
    });
  });
});

describe("a form of a browser without a script", () => {
  const submit = (slug: string, fields: Record<string, string>) =>
    service.app.handle(
      new Request(`http://localhost/api/corrections/${slug}`, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": "same-origin",
          ...from(),
        },
        body: new URLSearchParams(fields).toString(),
      }),
    );

  test("leads to the status page, which keeps the link", async () => {
    const slug = await addSlug();
    const empty = { suggested_value: "", source_url: "", contact_email: "" };
    const answer = await submit(slug, { ...wrongCity, ...empty });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(/^\/corrections\/status#[\w-]{43}$/);
    const other = { ...wrongCity, what_is_wrong: "Again.", source_url: "www.kisumu.example/about" };
    expect((await submit(slug, other)).status).toBe(303);
    const { rows } = await service.store.raw.execute(
      "SELECT source_url FROM corrections ORDER BY rowid DESC LIMIT 1",
    );
    expect(rows[0]?.["source_url"]).toBe("https://www.kisumu.example/about");
  });
});

describe("an operator", () => {
  test("sets the value as it was sent; the history says so, and no source is published", async () => {
    const slug = await addSlug();
    const answer = await send(slug, { ...wrongCity, source_url: "https://spam.example/x" });
    const id = `correction-${answer.correction_id}`;
    expect(await findReview(service.context, id)).toMatchObject({
      kind: "correction",
      slug,
      comparison: [{ field: "city", before: "Nairobi", after: "Kisumu" }],
      sources: ["https://spam.example/x"],
      editing: { current: "Kisumu", required: false },
      flags: [],
    });
    expect(await decide(answer, "approved")).toMatchObject({
      ok: true,
      value: { slug, message: "The city is corrected." },
    });
    const record = await recordBySlug(service.store, slug);
    expect(record).toMatchObject({
      city: "Kisumu",
      provenance: { city: { set_by: "operator", source_url: null } },
    });
    expect((await history(slug))[0]).toMatchObject({
      origin: "correction",
      by: "operator",
      fields: ["city", "provenance"],
    });
    expect(await statusOf(answer)).toMatchObject({ status: "approved" });
    expect(await decide(answer, "rejected", { reason: "No." })).toMatchObject({
      failure: { kind: "review_decided" },
    });
  });

  test("sets another value, and a value that cannot be used changes nothing", async () => {
    const slug = await addSlug();
    const answer = await send(slug);
    expect(await decide(answer, "approved", { value: "1" })).toMatchObject({
      failure: { kind: "review_value_not_usable", message: "city holds no name." },
    });
    expect((await decide(answer, "approved", { value: "Kakamega" })).ok).toBe(true);
    expect((await recordBySlug(service.store, slug))?.city).toBe("Kakamega");
  });

  test("empties a field of which only the fault is known, but never a name", async () => {
    const slug = await addSlug();
    const city = await send(slug, { field: "city", what_is_wrong: "Not there." });
    expect(await decide(city, "approved")).toMatchObject({
      value: { message: "The city is empty now." },
    });
    expect((await recordBySlug(service.store, slug))?.city).toBeNull();
    const name = await send(slug, { field: "name", what_is_wrong: "A typing mistake." });
    expect(await decide(name, "approved")).toMatchObject({
      failure: { kind: "review_value_not_usable" },
    });
    expect((await decide(name, "approved", { value: "Hope Kitchen" })).ok).toBe(true);
  });

  test("rejects it with a reason, which the sender reads; nothing changes", async () => {
    const slug = await addSlug();
    const answer = await send(slug);
    expect((await decide(answer, "rejected", { reason: "The register says Nairobi." })).ok).toBe(
      true,
    );
    expect(await statusOf(answer)).toMatchObject({
      status: "rejected",
      reason: "The register says Nairobi.",
    });
    expect(await history(slug)).toMatchObject([{ kind: "added" }]);
  });

  test("closes what was put right by hand, and what the profile says by now", async () => {
    const slug = await addSlug({ causes: ["education"], country_code: "KE", verified: 1 });
    const other = await send(slug, { field: "registrations", what_is_wrong: "Another's number." });
    const found = await findReview(service.context, `correction-${other.correction_id}`);
    expect(found).toMatchObject({ comparison: [], editing: null });
    expect(found?.checks.map(({ name }) => name)).toEqual(["source", "verified"]);
    expect(await decide(other, "approved")).toMatchObject({
      value: { message: expect.stringContaining("put the registrations right"), live: null },
    });
    for (const [field, before, suggested_value] of [
      ["causes", "education", "water-sanitation"],
      ["country", "Kenya", "Uganda"],
    ] satisfies [CorrectionField, string, string][]) {
      const [one, two] = [
        await send(slug, { field, what_is_wrong: "It is not.", suggested_value }),
        await send(slug, { field, what_is_wrong: "No.", suggested_value }),
      ];
      const review = await findReview(service.context, `correction-${two.correction_id}`);
      expect(review?.comparison).toEqual([{ field, before, after: suggested_value }]);
      expect((await decide(one, "approved")).ok).toBe(true);
      expect(await decide(two, "approved")).toMatchObject({
        value: { message: "The profile holds this value already." },
      });
    }
  });

  test("sees that the value was set since, that a text claims much, and that the profile has gone", async () => {
    const slug = await addSlug();
    const answer = await send(slug);
    const mission = await send(slug, {
      field: "mission",
      what_is_wrong: "Too modest.",
      suggested_value: "The best and most effective charity in the world.",
    });
    now = new Date(now.getTime() + 1_000);
    await decide(await send(slug, { ...wrongCity, suggested_value: "Kakamega" }), "approved");
    const checksOf = async ({ correction_id }: CorrectionAnswer) =>
      (await findReview(service.context, `correction-${correction_id}`))?.checks;
    expect(await checksOf(answer)).toContainEqual(expect.objectContaining({ name: "changed" }));
    expect(await checksOf(mission)).toContainEqual(
      expect.objectContaining({ name: "wording", outcome: "noted" }),
    );
    await service.store.raw.execute(
      `UPDATE nonprofits SET status = 'withdrawn' WHERE slug = '${slug}'`,
    );
    expect(await decide(answer, "approved")).toMatchObject({
      failure: { kind: "review_conflict" },
    });
    expect((await decide(answer, "rejected", { reason: "Withdrawn." })).ok).toBe(true);
  });
});

test("the contact is erased 90 days after the decision, or when an operator says so; what waits too long expires", async () => {
  const contact_email = "reader@mail.example";
  const contacts = async () => {
    const sql = "SELECT id FROM corrections WHERE contact_email IS NOT NULL";
    return (await service.store.raw.execute(sql)).rows.map((row) => String(row["id"])).sort();
  };
  const slug = await addSlug();
  const one = await send(slug, { ...wrongCity, contact_email });
  const two = await send(slug, { ...wrongCity, field: "region", contact_email });
  const three = await send(slug, { ...wrongCity, field: "tagline", contact_email });
  for (const each of [one, two]) await decide(each, "rejected", { reason: "No." });
  const erase = (given: { email?: string; review?: string }) =>
    eraseContactsOf(service.context, { ...given, operator: "ada" });
  expect(await erase({ review: `correction-${one.correction_id}` })).toMatchObject({
    value: { erased: [`correction-${one.correction_id}`], waiting: [] },
  });
  expect(await contacts()).toEqual([two.correction_id, three.correction_id].sort());
  expect(await eraseOldContacts(service.store, now)).toBe(0);
  now = new Date(now.getTime() + 90 * 86_400_000);
  expect(await eraseOldContacts(service.store, now)).toBe(1);
  expect(await erase({ email: contact_email.toUpperCase() })).toMatchObject({
    value: { erased: [], waiting: [`correction-${three.correction_id}`] },
  });
  expect(await erase({ review: "correction-00" })).toMatchObject({ ok: false });
  now = new Date(now.getTime() + 91 * 86_400_000);
  expect(await expireWaiting(service.context)).toBeGreaterThan(0);
  expect(await statusOf(three)).toMatchObject({ status: "rejected", reason: "expired" });
  expect((await listReviews(service.context, { kind: "correction", limit: 10 })).count).toBe(0);
});

test("a guessed secret shows nothing", async () => {
  for (const authorization of ["", "Bearer x", `Bearer ${"a".repeat(43)}`]) {
    const response = await service.get("/api/corrections/status", { authorization });
    expect(await response.json()).toMatchObject({ status: 404, code: "correction_not_found" });
  }
});
