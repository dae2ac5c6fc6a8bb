import { describe, expect, test } from "bun:test";
import {
  decideReview,
  eraseContacts,
  eraseOldContacts,
  expireWaiting,
  findReview,
  listReviews,
} from "#api/operator/requests.ts";
import { CorrectionAnswer, CorrectionStatus } from "#content/contract/correction.ts";
import { correctionStore } from "#content/correction/store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aClient, theService } from "#test/support/service.ts";

let now = new Date("2026-06-01T12:00:00Z");
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_STORED_MB_PER_DAY: "0" },
  context: { clock: () => now },
});
await service.add(
  aNonprofit({ slug: "gone", status: "withdrawn" }),
  aNonprofit({ slug: "merged", status: "withdrawn", merged_into: "kitchen" }),
);

const post = async (slug: string, body: unknown, headers = {}) =>
  (await service.post(`/api/corrections/${slug}`, body, { ...aClient(), ...headers })).json();
const wrongCity = { field: "city", what_is_wrong: "They moved.", suggested_value: "Kisumu" };
const addSlug = async (values = {}) => {
  const [record] = await service.add(aNonprofit({ city: "Nairobi", ...values }));
  return record?.slug ?? "";
};
const send = async (slug: string, body: object = {}, headers = {}) =>
  CorrectionAnswer.parse(await post(slug, { ...wrongCity, ...body }, headers));
/** Says that a field is wrong, and not what would be right. */
const doubt = async (slug: string, field: string) =>
  CorrectionAnswer.parse(await post(slug, { field, what_is_wrong: "It is not." }));
const statusOf = async ({ status_url }: CorrectionAnswer) => {
  const authorization = `Bearer ${status_url?.split("#")[1]}`;
  const response = await service.get("/api/corrections/status", { authorization });
  expect(response.headers.get("cache-control")).toBe("no-store");
  return CorrectionStatus.parse(await response.json());
};
const idOf = ({ correction_id }: CorrectionAnswer) => `correction-${correction_id}`;
const reviewOf = (answer: CorrectionAnswer) => findReview(service.context, idOf(answer));
const decide = (answer: CorrectionAnswer, decision: "approved" | "rejected", more: object) =>
  decideReview(service.context, { id: idOf(answer), decision, operator: "ada", ...more });
const approve = (answer: CorrectionAnswer, edits: { value?: string } = {}) =>
  decide(answer, "approved", edits);
const reject = (answer: CorrectionAnswer, reason = "No.") => decide(answer, "rejected", { reason });
const history = async (slug: string) => (await service.json(`/api/history/${slug}`)).changes;

describe("what is sent", () => {
  test("waits for an operator, with a link that shows so", async () => {
    const slug = await addSlug();
    const answer = await send(slug);
    expect(answer).toMatchObject({ slug, field: "city", status: "pending_review" });
    const link = /^https:\/\/almoner\.example\/corrections\/status#[\w-]{43}$/;
    expect(answer.status_url).toMatch(link);
    expect(await statusOf(answer)).toMatchObject({ slug, status: "pending_review", reason: null });
  });

  test("again is the same, with its link under the key of the first only", async () => {
    const slug = await addSlug();
    const key = { ...aClient(), "idempotency-key": "k-1" };
    const first = await send(slug, {}, key);
    expect(await send(slug, {}, key)).toEqual(first);
    const { correction_id } = first;
    expect(await send(slug)).toMatchObject({ correction_id, status_url: null });
    const reused = await post(slug, { ...wrongCity, what_is_wrong: "Else." }, key);
    expect(reused).toMatchObject({ status: 409, code: "idempotency_key_reused" });
    const bad = await post(slug, wrongCity, { "idempotency-key": "a b" });
    expect(bad).toMatchObject({ status: 400, code: "invalid_idempotency_key" });
  });

  test.each([
    ["nobody", 404, "nonprofit_not_found", ""],
    ["gone", 410, "nonprofit_withdrawn", "withdrawn"],
    ["merged", 410, "nonprofit_withdrawn", "merged into kitchen"],
  ])("for %s is refused", async (slug, status, code, words) => {
    const detail = expect.stringContaining(words);
    expect(await post(slug, wrongCity)).toMatchObject({ status, code, detail });
  });

  test("says what the profile says already", async () => {
    const slug = await addSlug();
    const refused = { status: 409, code: "nothing_to_correct" };
    expect(await post(slug, { ...wrongCity, suggested_value: "Nairobi" })).toMatchObject(refused);
    const wrong = { status: 400, code: "invalid_correction", errors: [{ path: "what_is_wrong" }] };
    expect(await post(slug, { field: "city", what_is_wrong: "" })).toMatchObject(wrong);
  });

  test("by a form of a browser without a script leads to the status page, which keeps the link", async () => {
    const slug = await addSlug();
    const submit = async (fields: object) => {
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const headers = { ...type, "sec-fetch-site": "same-origin", ...aClient() };
      const body = new URLSearchParams({ ...wrongCity, ...fields }).toString();
      const sent = { method: "POST", headers, body };
      const answer = await service.request(`/api/corrections/${slug}`, sent);
      expect(answer.status).toBe(303);
      return answer.headers.get("location");
    };
    const location = await submit({ suggested_value: "", source_url: "", contact_email: "" });
    expect(location).toMatch(/^\/corrections\/status#[\w-]{43}$/);
    await submit({ what_is_wrong: "Again.", source_url: "www.kisumu.example/about" });
    const [newest] = await service.rows("SELECT * FROM corrections ORDER BY rowid DESC LIMIT 1");
    expect(newest?.["source_url"]).toBe("https://www.kisumu.example/about");
  });
});

describe("an operator", () => {
  test("sets the value as it was sent; the history says so, and no source is published", async () => {
    const slug = await addSlug();
    const source_url = "https://spam.example/x";
    const answer = await send(slug, { source_url });
    expect(await reviewOf(answer)).toMatchObject({
      kind: "correction",
      slug,
      comparison: [{ field: "city", before: "Nairobi", after: "Kisumu" }],
      sources: [source_url],
      editing: { current: "Kisumu", required: false },
      flags: [],
    });
    const failure = { kind: "review_value_not_usable", message: "city holds no name." };
    expect(await approve(answer, { value: "1" })).toMatchObject({ failure });
    const message = "The city is corrected.";
    expect(await approve(answer)).toMatchObject({ ok: true, value: { slug, message } });
    const provenance = { city: { set_by: "operator", source_url: null } };
    expect(await service.live(slug)).toMatchObject({ city: "Kisumu", provenance });
    const [change] = await history(slug);
    expect(change).toMatchObject({ origin: "correction", by: "operator" });
    expect(change.fields).toEqual(["city", "provenance"]);
    expect(await statusOf(answer)).toMatchObject({ status: "approved" });
    expect(await reject(answer)).toMatchObject({ failure: { kind: "review_decided" } });
  });

  test("empties a field of which only the fault is known, but never a name", async () => {
    const slug = await addSlug();
    const emptied = { value: { message: "The city is empty now." } };
    expect(await approve(await doubt(slug, "city"))).toMatchObject(emptied);
    expect((await service.live(slug)).city).toBeNull();
    const name = await doubt(slug, "name");
    const failure = { kind: "review_value_not_usable" };
    expect(await approve(name)).toMatchObject({ failure });
    expect((await approve(name, { value: "Hope Kitchen" })).ok).toBe(true);
  });

  test("rejects it with a reason, which the sender reads; nothing changes", async () => {
    const slug = await addSlug();
    const answer = await send(slug);
    const { id = 0 } = (await recordBySlug(service.store, slug)) ?? {};
    const waiting = async () =>
      (await correctionStore.waitingFor(service.store, id)).map((one) => one.id);
    expect(await waiting()).toEqual([answer.correction_id]);
    const reason = "The register says Nairobi.";
    expect((await reject(answer, reason)).ok).toBe(true);
    expect(await waiting()).toEqual([]);
    expect(await statusOf(answer)).toMatchObject({ status: "rejected", reason });
    expect(await history(slug)).toMatchObject([{ kind: "added" }]);
  });

  test("closes what was put right by hand, and what the profile says by now", async () => {
    const slug = await addSlug({ causes: ["education"], country_code: "KE", verified: 1 });
    const other = await doubt(slug, "registrations");
    const item = await reviewOf(other);
    expect(item).toMatchObject({ comparison: [], editing: null });
    expect(item?.checks.map(({ name }) => name)).toEqual(["source", "verified"]);
    const message = expect.stringContaining("put the registrations right");
    expect(await approve(other)).toMatchObject({ value: { message, live: null } });
    for (const [field, before, after] of [
      ["causes", "education", "water-sanitation"],
      ["country", "Kenya", "Uganda"],
    ] as const) {
      const first = await send(slug, { field, suggested_value: after });
      const second = await send(slug, { field, suggested_value: after, what_is_wrong: "No." });
      expect((await reviewOf(second))?.comparison).toEqual([{ field, before, after }]);
      expect((await approve(first)).ok).toBe(true);
      const known = { value: { message: "The profile holds this value already." } };
      expect(await approve(second)).toMatchObject(known);
    }
  });

  test("sees that the value was set since, that a text claims much, and that the profile has gone", async () => {
    const slug = await addSlug();
    const answer = await send(slug);
    const suggested_value = "The best and most effective charity in the world.";
    const mission = await send(slug, { field: "mission", suggested_value });
    now = new Date(now.getTime() + 1_000);
    await approve(await send(slug, { suggested_value: "Kakamega" }));
    const noted = (name: string) => expect.objectContaining({ name, outcome: "noted" });
    expect((await reviewOf(answer))?.checks).toContainEqual(noted("changed"));
    expect((await reviewOf(mission))?.checks).toContainEqual(noted("wording"));
    await service.change(slug, { status: "withdrawn" });
    expect(await approve(answer)).toMatchObject({ failure: { kind: "review_conflict" } });
    expect((await reject(answer, "Withdrawn.")).ok).toBe(true);
  });
});

test("the contact is erased 90 days after the decision, or when an operator says so; what waits too long expires", async () => {
  const contact_email = "reader@mail.example";
  const contacts = async () => {
    const rows = await service.rows("SELECT id FROM corrections WHERE contact_email IS NOT NULL");
    return rows.map((row) => `correction-${String(row["id"])}`).sort();
  };
  const slug = await addSlug();
  const [first, second, third] = [
    await send(slug, { contact_email }),
    await send(slug, { contact_email, field: "region" }),
    await send(slug, { contact_email, field: "tagline" }),
  ];
  for (const each of [first, second]) await reject(each);
  const erase = (whose: { email?: string; review?: string }) =>
    eraseContacts(service.context, { ...whose, operator: "ada" });
  const erased = { value: { erased: [idOf(first)], waiting: [] } };
  expect(await erase({ review: idOf(first) })).toMatchObject(erased);
  expect(await contacts()).toEqual([idOf(second), idOf(third)].sort());
  now = new Date(now.getTime() + 90 * 86_400_000 - 1);
  expect(await eraseOldContacts(service.context)).toBe(0);
  now = new Date(now.getTime() + 1);
  expect(await eraseOldContacts(service.context)).toBe(1);
  const waiting = { value: { erased: [], waiting: [idOf(third)] } };
  expect(await erase({ email: contact_email.toUpperCase() })).toMatchObject(waiting);
  expect(await erase({ review: "correction-00" })).toMatchObject({ ok: false });
  now = new Date(now.getTime() + 91 * 86_400_000);
  expect(await expireWaiting(service.context)).toBeGreaterThan(0);
  expect(await statusOf(third)).toMatchObject({ status: "rejected", reason: "expired" });
  expect((await listReviews(service.context, { kind: "correction", limit: 10 })).count).toBe(0);
});

test("a guessed secret shows nothing", async () => {
  for (const authorization of ["", "Bearer x", `Bearer ${"a".repeat(43)}`]) {
    const refused = await service.json("/api/corrections/status", { authorization });
    expect(refused).toMatchObject({ status: 404, code: "correction_not_found" });
  }
});
