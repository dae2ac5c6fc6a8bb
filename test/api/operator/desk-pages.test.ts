import { describe, expect, spyOn, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DailyNumbers, OperatorHealth } from "#content/contract/operator.ts";
import { openChain } from "#api/chain/open-chain.ts";
import { actions } from "#api/operator/actions.ts";
import { table } from "#api/operator/desk/elements.ts";
import { operatorHealth } from "#api/operator/health.ts";
import { ok } from "#content/contract/base/result.ts";
import { backupMark } from "#content/operation/backup-store.ts";
import { alerts, theOperatedService, shown, textsOf } from "#test/support/desk.ts";
import { aNode, hang, type NodeAnswer } from "#test/support/node.ts";
import { aWallet } from "#test/support/wallets.ts";

const well = {
  release: 3,
  held: false,
  profilesTo: 1_000_000,
  listsTo: 1_000_000,
  failures: 0,
  silentMs: 0,
  pid: 0,
};
let published = well;
const service = await theOperatedService({
  env: { ALMONER_RECOMMENDATION_PHASE: "2" },
  context: { clock: () => new Date(), publication: () => published },
});
const { aSlug, from, live } = service;
const ada = await service.signedIn();

async function onboard(body: object): Promise<string> {
  const response = await service.post("/api/onboard", body, from());
  expect(response.status).toBe(200);
  return ((await response.json()) as { submission_id: string }).submission_id;
}

describe("what organisations ask for", () => {
  test("a claim is compared, edited and approved, and its wallet held and stopped", async () => {
    const slug = await aSlug({ website: null, city: null });
    const wallet = aWallet().address;
    const claim = await onboard({
      claim_slug: slug,
      contact_email: "office@claimer.example",
      usdc_wallet: wallet,
      city: "Oslo",
    });
    const page = await ada.get(`/desk/reviews/onboarding-${claim}`);
    expect(shown(page.$(".compare").text())).toContain(wallet);
    expect(page.$("[role=note]").text()).toContain("no real money moves");
    expect(page.$("table").text()).toContain("passed");
    expect((await live(slug)).usdc_wallet).toBeNull();
    const refused = await ada.send(page, "Approve", { "value.country": "Nowhere" });
    expect(alerts(refused)).toContain("No country has this name or code");
    expect(refused.$("input[name='value.country']").val()).toBe("Nowhere");
    await ada.send(page, "Approve");
    expect(await live(slug)).toMatchObject({ verified: 1, usdc_wallet: null, city: "Oslo" });
    const held = await ada.get(`/desk/reviews/hold-${claim}`);
    expect(shown(held.$("main").text())).toContain("A first wallet takes effect at");
    await ada.send(held, "Reject", { reason: "Not theirs" });
  });

  test("what may be the same organisation is shown beside its name, with why and how near", async () => {
    const slug = "fjord-library";
    const place = { country_code: "NO", city: "Molde" };
    await aSlug({ slug, name: "Fjord Library", ...place, status: "claimed" });
    const twin = await onboard({
      name: "The Fjord Library",
      country: "Norway",
      city: "Molde",
      contact_email: "office@fjord.example",
    });
    const page = await ada.get(`/desk/reviews/onboarding-${twin}`);
    const row = page.$("h2:contains(Perhaps the same) + .scroll tbody tr");
    expect(row.length).toBe(1);
    expect(row.find("a").attr("href")).toBe("/nonprofits/fjord-library");
    expect(shown(row.text())).toMatch(/Fjord Library \(claimed\).*Molde.*near-same name.*1\.00/);
  });

  test("a changed wallet is held; no one can approve the hold, anybody can stop it", async () => {
    const before = aWallet().address;
    const slug = await aSlug({ usdc_wallet: before, verified: 1, status: "claimed" });
    const change = await onboard({
      claim_slug: slug,
      contact_email: "office@changer.example",
      usdc_wallet: aWallet().address,
    });
    await ada.send(await ada.get(`/desk/reviews/onboarding-${change}`), "Approve");
    expect((await live(slug)).usdc_wallet).toBe(before);
    const queue = await ada.get("/desk/queues/hold");
    expect(queue.$(`a[href='/desk/reviews/hold-${change}']`).length).toBe(1);
    const page = await ada.get(`/desk/reviews/hold-${change}`);
    expect(page.$("button:contains(Approve)").length).toBe(0);
    const forced = await ada.send(page, "Reject", { decision: "approve", reason: "" });
    expect(forced.status).toBe(409);
    expect(alerts(forced)).toContain("A hold cannot be shortened");
    await ada.send(forced, "Reject", { reason: "The organisation says it was not them" });
    expect((await ada.get("/desk/queues/hold")).$("main").text()).toContain("Nothing waits here");
    expect((await live(slug)).usdc_wallet).toBe(before);
  });

  test("a verification is taken back", async () => {
    const slug = await aSlug({ verified: 1, status: "claimed", usdc_wallet: aWallet().address });
    const page = await ada.get(`/desk/undo?slug=${slug}`);
    expect(page.$("#slug").val()).toBe(slug);
    const done = await ada.send(page, "Take it back", { reason: "The sender lied" });
    expect(alerts(done)).toContain(`${slug} is no longer verified`);
    expect((await live(slug)).verified).toBe(0);
  });
});

test("the form to undo an agent keeps what was typed while there is more to undo", async () => {
  const found = { agent_id: "mallory", submissions: 500, emptied: 400, recommendations: 0 };
  using undo = spyOn(actions.revertAgent, "perform");
  undo.mockResolvedValueOnce(ok({ ...found, complete: false }));
  undo.mockResolvedValueOnce(ok({ ...found, complete: true }));
  const typed = { agent_id: "Mallory", reason: "made up" };
  const more = await ada.send(await ada.get("/desk/undo"), "Undo all", typed);
  expect(alerts(more)).toContain("There is more: send the form once more.");
  expect(alerts(more)).toContain("mallory: 500 submissions undone, 400 fields emptied");
  expect(undo.mock.lastCall?.[1]).toMatchObject({ operator: "ada", body: typed });
  expect([more.$("#agent").val(), more.$("#agent-reason").val()]).toEqual(["Mallory", "made up"]);
  const done = await ada.send(more, "Undo all");
  expect([done.$("#agent").val(), done.$("#agent-reason").val()]).toEqual(["", ""]);
});

describe("recommendations", () => {
  const draft = async (slug: string, agent_id: string) => {
    const body = {
      slug,
      recommended_for: ["donors interested in reading"],
      why_recommended: "It lends books to schools.",
      source_url: "https://a.example/report",
      agent_id,
    };
    const response = await service.post("/api/recommend/drafts", body, from());
    expect([200, (await response.clone().json()).code]).toEqual([response.status, undefined]);
  };
  const waiting = async () =>
    (await ada.get("/desk/queues/draft"))
      .$("main table a[href^='/desk/reviews/draft-']")
      .last()
      .attr("href") ?? "";

  test("a draft is approved in the operator's words", async () => {
    const slug = await aSlug();
    await draft(slug, "drafter-1");
    const page = await ada.get(await waiting());
    expect(page.$("main").text()).toContain("It lends books to schools.");
    const why = "value.why_recommended";
    const typed = {
      [why]: "The best library of all.",
      "value.recommended_for": "reading\r\n\r\nbooks in Oslo",
    };
    const refused = await ada.send(page, "Approve", typed);
    expect(refused.status).toBe(400);
    expect(refused.$(`textarea[name='${why}']`).val()).toBe(typed[why]);
    expect((await ada.send(refused, "Approve", { [why]: "" })).status).toBe(400);
    expect((await ada.send(refused, "Approve", { "value.recommended_for": "" })).status).toBe(400);
    await ada.send(refused, "Approve", { [why]: "It lends books to four schools." });
    const picks = await ada.get("/desk/picks");
    expect(picks.$("table").text()).toContain("It lends books to four schools.");
    expect(textsOf(picks, "td li")).toEqual(["reading", "books in Oslo"]);
  });

  test("a draft that is approved as it stands is not called edited, and an object with a quote too few is refused", async () => {
    const slug = await aSlug();
    await draft(slug, "drafter-3");
    const path = await waiting();
    const id = path.split("/").at(-1) ?? "";
    for (const value of [
      '{"why_recommended": "Broken}',
      "{}x",
      '{"why": "Another name"}',
      '{"recommended_for": "one"}',
    ]) {
      const answer = await service.tell(`reviews/${id}/approve`, { value });
      expect([value, answer.status]).toEqual([value, 400]);
    }
    await ada.send(await ada.get(path), "Approve");
    const { entries } = await service.ask(`audit?subject=${id}`);
    expect(entries).toMatchObject([{ detail: { value: null, reason: null } }]);
  });

  test("a pick is added, edited and removed, and what is typed stays when it is refused", async () => {
    const slug = await aSlug();
    const page = await ada.get("/desk/picks");
    const typed = {
      slug,
      recommended_for: "donors interested in books\ndonors in Oslo",
      why_recommended: "The most effective charity.",
      causes: "",
    };
    const refused = await ada.send(page, "Recommend it", typed);
    expect(refused.status).toBe(400);
    expect(refused.$("#why").val()).toBe(typed.why_recommended);
    const restrained = { why_recommended: "It keeps a library." };
    const added = await ada.send(refused, "Recommend it", restrained);
    expect(alerts(added)).toContain(`${slug} was added by ada`);
    const one = await ada.get(`/desk/picks/${slug}`);
    expect(one.$("#recommended-for").val()).toBe("donors interested in books\ndonors in Oslo");
    expect((await ada.send(one, "Save", { causes: "no-such-cause" })).status).toBe(400);
    await ada.send(one, "Save", { why_recommended: "It keeps two libraries." });
    expect((await ada.get("/desk/picks")).$("table").text()).toContain("It keeps two libraries.");
    await ada.send(one, "Recommend it no longer", { reason: "It closed" });
    expect((await ada.get(`/desk/picks/${slug}`)).status).toBe(404);
  });
});

test("a pick keeps what another operator changed meanwhile, and is not overwritten unseen", async () => {
  const slug = await aSlug();
  const pick = { slug, recommended_for: "donors of books", why_recommended: "It keeps a library." };
  await ada.send(await ada.get("/desk/picks"), "Recommend it", pick);
  const grace = await service.signedIn("grace");
  const adas = await ada.get(`/desk/picks/${slug}`);
  const graces = await grace.get(`/desk/picks/${slug}`);
  await grace.send(graces, "Save", { why_recommended: "It keeps two libraries." });
  await ada.send(adas, "Save", { recommended_for: "donors in Oslo" });
  const texts = async () => {
    const { $ } = await ada.get(`/desk/picks/${slug}`);
    return ["#recommended-for", "#why"].map((field) => $(field).val()?.toString().trim());
  };
  expect(await texts()).toEqual(["donors in Oslo", "It keeps two libraries."]);
  const typed = { why_recommended: "It lends books." };
  const refused = await ada.send(adas, "Save", typed);
  expect(refused.status).toBe(409);
  expect(alerts(refused)).toContain("why recommended is now “It keeps two libraries.”");
  await ada.send(refused, "Save");
  expect(await texts()).toEqual(["donors in Oslo", "It lends books."]);
});

describe("health", () => {
  const health = async () => OperatorHealth.parse(await service.ask("health"));

  test("tells what publishing, backup and disk are like, the same at the desk and for programs", async () => {
    expect((await health()).warnings).toContainEqual(
      expect.stringContaining("No backup has been recorded. `bun run backup` makes one"),
    );
    const mark = join(service.context.config.dataDir, backupMark);
    writeFileSync(mark, "");
    expect((await health()).backup?.age_s).toBeLessThan(60);
    const yesterday = Date.now() / 1_000 - 3 * 86_400;
    utimesSync(mark, yesterday, yesterday);
    expect((await health()).warnings).toContain("The last backup is 3 days old.");
    published = { ...published, profilesTo: 0, listsTo: 0, failures: 2, silentMs: 31_000 };
    const found = await health();
    expect(found.publication).toMatchObject({ release: 3, failures: 2 });
    expect(found.warnings).toContainEqual(expect.stringContaining("no sign of life for 31 s"));
    expect(found.publication?.profiles_behind).toBe(found.store.newest_change);
    expect(found.store.bytes).toBeGreaterThan(10_000);
    expect(found.store.free_bytes).toBeGreaterThan(0);
    const page = await ada.get("/desk/health");
    for (const warning of found.warnings) expect(alerts(page)).toContain(warning);
    expect(shown(page.$("table").text())).toContain("Release 3. Profiles are");
    published = well;
    const caughtUp = { profiles_behind: 0, lists_behind: 0, oldest_waiting_s: null };
    expect((await health()).publication).toMatchObject(caughtUp);
  });

  test("puts its alerts on the first page, with charts and what waits", async () => {
    const { warnings } = await health();
    expect(warnings.length).toBeGreaterThan(0);
    const first = await ada.get("/desk");
    expect(textsOf(first, ".notice.bad span")).toEqual(warnings);
    const figures = first.$("figure").toArray();
    expect(figures.map(({ attribs }) => attribs["id"])).toEqual(["enrichment", "queries"]);
    expect(first.$("caption").first().text()).toContain("What waits");
  });

  test("says how the chain answers, and does not wait for one that hangs", async () => {
    const ask = async (answer: NodeAnswer) => {
      const node = aNode(answer);
      const opened = await openChain({
        network: "local",
        rpcUrls: [node.url],
        sponsorKey: null,
        commitment: "confirmed",
        clock: service.context.clock,
      });
      if (!opened.ok) throw new Error(opened.failure.message);
      const { chain } = await operatorHealth({ ...service.context, chain: opened.value });
      await node.stop();
      return chain;
    };
    const hangs = { answers: false, why: "no answer within 2500 ms" };
    expect(await ask(hang)).toMatchObject(hangs);
    expect(await ask(() => ({ result: 7 }))).toMatchObject({ answers: true, why: null });
  });

  test("asks the chain both its questions at once", async () => {
    const asked = Promise.withResolvers<void>();
    const chain = {
      ...service.context.chain,
      sponsor: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
      health: async () => {
        await asked.promise;
        return { why: null, took_ms: 1 };
      },
      balanceOf: async () => {
        asked.resolve();
        return ok(7);
      },
    };
    expect(await operatorHealth({ ...service.context, chain })).toMatchObject({
      chain: { answers: true },
      sponsor: { balance_lamports: 7 },
    });
  });

  test("counts requests that a limit refused", async () => {
    const address = { "x-forwarded-for": "10.250.0.1" };
    const answers = [];
    for (let at = 0; at < 12; at++)
      answers.push((await service.post("/api/onboard", {}, address)).status);
    expect(answers.filter((status) => status === 429)).toHaveLength(2);
    await service.context.activity.flush();
    expect((await health()).refused.requests["onboard"]).toBe(2);
    expect((await ada.get("/desk/health")).$("table").text()).toContain("onboard: 2");
  });
});

describe("charts", () => {
  test("draw what was counted, and say the same in a table", async () => {
    const slug = await aSlug();
    for (const agent of ["c-1", "c-2"]) await service.submit(slug, agent, "city", "Oslo");
    await service.get("/api/search?q=books", from());
    await service.context.activity.flush();
    const numbers = DailyNumbers.parse(await service.ask("numbers?days=7"));
    expect(numbers.days).toHaveLength(7);
    expect(numbers.submissions.at(-1)).toBe(2);
    expect(numbers.applied.at(-1)).toBe(1);
    expect(numbers.searches.at(-1)).toBe(1);
    const page = await ada.get("/desk/charts?days=7");
    const figures = page.$("#enrichment, #queries, #growth");
    expect(figures.length).toBe(3);
    for (const svg of figures.find("svg").toArray()) {
      const named = page.$(svg).attr("aria-labelledby")?.split(" ") ?? [];
      expect(named.every((id) => page.$(`#${id}`).text() !== "")).toBe(true);
      expect(page.$(svg).find("path").first().attr("d")).toMatch(/^M[\d.]+,[\d.]+/);
    }
    expect(figures.find("svg").length).toBe(4);
    expect(page.$("#enrichment tbody tr").length).toBe(7);
    expect(page.$("#enrichment").text()).toContain("sent by agents: 2");
    // Which line is which stands beside each.
    expect(page.$("#enrichment .wide-chart svg").text()).toContain("live at once");
    // No chart of nothing.
    expect(page.$("#donated").text()).toContain("Nothing to draw");
    expect(page.$("#gifts").text()).toContain("No gift was recorded");
    expect(page.$("[style], style, script").length).toBe(0);
  });

  test.each([
    ["0", 30],
    ["99999", 365],
    ["1", 2],
  ])("of %p days are drawn as those of %d", async (days, count) => {
    const page = await ada.get(`/desk/charts?days=${days}`);
    expect([page.status, page.$("h1").text()]).toEqual([200, `The last ${count} days`]);
    expect(page.body).not.toContain("NaN");
  });
});

test("a table of numbers, wider than a phone, is moved by keys, too", () => {
  const region = 'tabindex="0" role="region" aria-label="Calls of"';
  const made = table({ kind: "numbers", columns: ["Calls of", "All"], rows: [["mcp", "7"]] });
  expect(made.toString()).toContain(region);
  expect(table({ columns: ["Calls of"], rows: [["mcp"]] }).toString()).not.toContain("tabindex");
});

test("an agent to undo that never sent anything is said so, and one with nothing live is not", async () => {
  await service.submit(await aSlug(), "ledger-lark", "city", "Oslo");
  const page = await ada.get("/desk/undo");
  const undo = (agent_id: string) =>
    ada.send(page, "Undo all", { agent_id, reason: "It made things up." });
  const none = await undo("ledger-lrak");
  expect([none.status, none.$("#agent").val()]).toEqual([404, "ledger-lrak"]);
  const words = "No submission of an agent ledger-lrak exists: nothing was undone.";
  expect(shown(none.$(".notice.bad").text())).toContain(words);
  const nothing = await undo("Ledger-Lark");
  expect([nothing.status, alerts(nothing)]).toEqual([
    200,
    expect.stringContaining("ledger-lark: 0 submissions undone"),
  ]);
});
