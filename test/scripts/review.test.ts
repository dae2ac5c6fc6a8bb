import { expect, test } from "bun:test";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { aNonprofit } from "../support/records.ts";
import { theService, beside } from "#test/support/service.ts";
import { runScript } from "#test/support/processes.ts";

const service = await theService();
const [record] = await service.add(aNonprofit());
const slug = record?.slug ?? "";

/** Runs the command beside the open service. */
const review = (...words: string[]) => runScript("review", words, beside(service));

const submit = (agent_id: string, field: string, value: string) =>
  service.post(`/api/enrich/${slug}`, { field, value, agent_id });

test("an operator lists, accepts, rejects and reverts at the command line", async () => {
  await submit("bot-a", "mission", "Food for all.");
  await submit("bot-b", "tagline", "Simply the best");
  for (const agent of ["bot-a", "bot-b"]) await submit(agent, "city", "Oslo");

  const listed = await review("list", "--kind", "prose", "--json");
  const { reviews } = JSON.parse(listed.out) as {
    reviews: { id: string; detail: { field: string } }[];
  };
  expect(reviews.map(({ detail }) => detail.field)).toEqual(["mission", "tagline"]);
  const [mission, tagline] = reviews.map(({ id }) => id);

  const accepted = await review("approve", mission ?? "", "--value", "Food for everyone.");
  expect(accepted).toMatchObject({ code: 0 });
  expect((await recordBySlug(service.store, slug))?.mission).toBe("Food for everyone.");
  expect((await review("approve", mission ?? "")).code).toBe(1);

  expect((await review("reject", tagline ?? "")).code).toBe(2); // No reason.
  expect((await review("reject", tagline ?? "", "--reason", "x".repeat(501))).code).toBe(2); // As over HTTP.
  expect((await review("reject", tagline ?? "", "--reason", "a claim")).code).toBe(0);

  expect((await review("erase")).code).toBe(2); // Whose?
  expect((await review("erase", "--email", "nobody@else.example")).out).toBe("Erased: nothing.\n");

  const reverted = await review("revert", "--agent", "BOT-A", "--json");
  expect(JSON.parse(reverted.out)).toEqual({
    agent_id: "bot-a",
    submissions: 1,
    emptied: 1,
    recommendations: 0,
    complete: true,
  });
  expect((await recordBySlug(service.store, slug))?.city).toBeNull();
  expect((await review("revert", "--agent", "bot-a")).code).toBe(1);
});

test("many are decided at once, and a profile is put right", async () => {
  for (const [agent, text] of [
    ["bot-c", "One text."],
    ["bot-d", "Another text."],
  ] as const) {
    await submit(agent, "description", text);
  }
  const listed = JSON.parse((await review("list", "--kind", "prose", "--json")).out) as {
    reviews: { id: string }[];
  };
  const ids = listed.reviews.map(({ id }) => id);
  const many = await review("reject", ...ids, "prose-999999", "--reason", "Copied.", "--json");
  expect(many.code).toBe(1);
  expect(JSON.parse(many.out)).toMatchObject({ done: ids.length });

  const reason = ["--reason", "Out of date."];
  const to = ["--field", "founded_year", "--value", "1998"];
  expect((await review("profile", "edit", slug, ...to, ...reason)).code).toBe(0);
  expect(await review("profile", "withdraw", slug, ...reason)).toMatchObject({ code: 0 });
  expect(await recordBySlug(service.store, slug)).toMatchObject({
    founded_year: 1998,
    status: "withdrawn",
  });
  expect((await review("profile", "restore", slug)).code).toBe(2); // No reason.
  expect((await review("profile", "restore", slug, ...reason)).code).toBe(0);
  const nowhere = await review("profile", "merge", slug, "--into", "nobody", ...reason);
  expect(nowhere.code).toBe(1);
});

test("says what is wrong", async () => {
  for (const [words, message] of [
    [["list", "--kind", "nonsense"], "--kind is one of onboarding, prose,"],
    [["numbers", "--days", "366"], "--days: at most 365."],
    [["revert"], "Give --agent, --submissions, or both."],
    [["revert", "--submissions", "a"], "--submissions: give the numbers of submissions"],
  ] as const) {
    const { code, err } = await review(...words);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  }
  // What the operation alone knows it says itself, also to a program.
  const edit = ["profile", "edit", slug, "--field", "founded_year", "--reason", "Wrong."];
  expect(await review(...edit, "--value", "1900.5")).toMatchObject({
    code: 1,
    err: expect.stringContaining("values.founded_year: Send a whole number"),
  });
  const { out } = await review("erase", "prose-1", "--json");
  expect(JSON.parse(out)).toMatchObject({ ok: false });
  expect((await review("approve", "prose-999999", "--reason", "")).code).toBe(1);
  expect((await review("approve", "prose-999999")).err).toContain("Nothing with this id");
  expect((await review("list", "--help")).out).toContain("--kind");
});
