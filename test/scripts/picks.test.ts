import { expect, test } from "bun:test";
import { curatedPicks } from "#content/recommendation/pick-store.ts";
import { draftExample } from "#content/contract/recommendation.ts";
import { aNonprofit } from "../support/records.ts";
import { theService, beside } from "#test/support/service.ts";
import { runScript } from "#test/support/processes.ts";

const service = await theService({
  env: { ALMONER_RECOMMENDATION_PHASE: "2" },
  records: ["wells", "pumps"].map((slug) => aNonprofit({ slug })),
});

/** Runs the command beside the open service. */
const review = (...words: string[]) => runScript("review", words, beside(service));

const picks = () => curatedPicks(service.store, { phase: 1 });

test("an operator adds, edits, lists and removes picks at the command line", async () => {
  const words = ["--for", "donors interested in wells; repairs", "--why", "Mends wells."];
  const boast = await review("pick", "add", "wells", "--for", "wells", "--why", "The best wells.");
  expect([boast.code, boast.err]).toEqual([1, expect.stringContaining('"best" claims too much')]);
  expect(await review("pick", "add", "wells", ...words)).toMatchObject({ code: 0 });
  expect((await review("pick", "add", "wells", ...words)).err).toContain("recommended already");
  const recommended_for = ["donors interested in wells", "repairs"];
  expect(await picks()).toMatchObject([{ recommended_for, origin: "operator", causes: null }]);
  const edited = await review("pick", "edit", "wells", "--causes", "health,education", "--json");
  expect(JSON.parse(edited.out)).toMatchObject({ ok: true, value: { change: "edited" } });
  expect(await picks()).toMatchObject([
    { why_recommended: "Mends wells.", causes: ["health", "education"] },
  ]);
  await review("pick", "edit", "wells", "--causes", "all");
  expect((await picks())[0]?.causes).toBeNull();
  const listed = await review("pick", "list", "--json");
  expect(JSON.parse(listed.out)).toMatchObject({
    count: 1,
    picks: [{ slug: "wells" }],
    in_file: [],
  });
  expect((await review("pick", "list")).out).toContain('for "repairs"');
  expect(await review("pick", "remove", "wells", "--reason", "Closed.")).toMatchObject({ code: 0 });
  expect((await review("pick", "remove", "wells", "--reason", "Closed.")).code).toBe(1);
  expect((await review("pick", "list")).out).toContain("has no recommendations");
});

test("says what is missing, with code 2", async () => {
  for (const args of [
    ["add", "wells", "--why", "Mends wells."],
    ["add", "wells", "--for", "wells"],
    ["edit", "wells"],
    ["edit", "wells", "--causes", "nonsense"],
    ["remove", "wells"],
    ["list", "--limit", "0"],
    ["add", "wells", "--four", "wells"],
  ])
    expect([args, (await review("pick", ...args)).code]).toEqual([args, 2]);
  const unknown = await review("pick", "edit", "wells", "--causes", "helth,education");
  expect(unknown.err).toContain('there is no "helth"');
  expect((await review("pick", "add", "nobody", "--for", "x", "--why", "y")).err).toContain(
    "No nonprofit",
  );
});

test("approves an agent's draft in other words", async () => {
  const sent = await service.post("/api/recommend/drafts", { ...draftExample, slug: "pumps" });
  const { draft_id } = (await sent.json()) as { draft_id: number };
  expect((await review("list", "--kind", "draft")).out).toContain(`draft-${draft_id}`);
  const words = ["--value", "Mends pumps.", "--operator", "ada"];
  expect(await review("approve", `draft-${draft_id}`, ...words)).toMatchObject({ code: 0 });
  expect(await picks()).toMatchObject([{ why_recommended: "Mends pumps.", origin: "draft" }]);
  expect((await review("approve", `draft-${draft_id}`)).code).toBe(1);
});
