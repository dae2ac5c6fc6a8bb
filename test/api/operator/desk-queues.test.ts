import { describe, expect, test } from "bun:test";
import { StoreBusy } from "#content/store/busy.ts";
import {
  alerts,
  theOperatedService,
  aVisitor,
  type DeskPage,
  shown,
  textsOf,
} from "#test/support/desk.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService } from "#test/support/service.ts";

const service = await theOperatedService();
const { aSlug, live } = service;
const ada = await service.signedIn();
const grace = await service.signedIn("grace");

const submit = async (...sent: Parameters<typeof service.submit>): Promise<number> =>
  (await service.submit(...sent)).submission_id;
const links = (page: DeskPage): string[] =>
  page
    .$("main table a[href^='/desk/reviews/']")
    .toArray()
    .map(({ attribs }) => attribs["href"]?.replace("/desk/reviews/", "") ?? "");

describe("prose", () => {
  test("is compared, checked and accepted as it is", async () => {
    const slug = await aSlug();
    const id = await submit(slug, "bot-a", "mission", "We cook.\n\nEvery day.");
    const page = await ada.get(`/desk/reviews/prose-${id}`);
    expect(textsOf(page, ".compare td")).toEqual(["nothing", "We cook.\n\nEvery day."]);
    expect(page.$("ul a").last().attr()).toMatchObject({
      href: "https://a.example/about",
      rel: "noopener noreferrer nofollow",
    });
    expect(page.$(".outcome-passed").length).toBe(3);
    const next = await ada.send(page, "Approve");
    expect(alerts(next)).toMatch(/^Sample Trust \d+: mission was approved by ada/);
    expect((await live(slug)).mission).toBe("We cook.\n\nEvery day.");
    const { entries } = await service.ask(`audit?subject=prose-${id}`);
    expect(entries[0].detail.value).toBeNull(); // Sent as it stood, so nothing was edited.
  });

  test("is edited, and what was typed stays when it cannot be used", async () => {
    const slug = await aSlug();
    const id = await submit(slug, "bot-a", "tagline", "The best food");
    const page = await ada.get(`/desk/reviews/prose-${id}`);
    expect(page.$("table").text()).toContain("claims too much");
    const refused = await ada.send(page, "Approve", { value: "x".repeat(161), reason: "shorter" });
    expect(refused.status).toBe(400);
    expect(alerts(refused)).toContain("at most 160");
    expect(refused.$("#value").val()).toBe("x".repeat(161));
    expect(refused.$("#approve-reason").val()).toBe("shorter");
    await ada.send(refused, "Approve", { value: "Warm food" });
    expect((await live(slug)).tagline).toBe("Warm food");
  });

  test("of a programme is edited part by part, beside those that are there", async () => {
    const slug = await aSlug();
    const first = { name: "Soup kitchen", description: "Open daily", beneficiaries_per_year: 120 };
    const pageOf = async (value: string) =>
      ada.get(`/desk/reviews/prose-${await submit(slug, "bot-a", "programme", value)}`);
    const soup = await pageOf(JSON.stringify(first));
    const people = "value.beneficiaries_per_year";
    expect(soup.$(`input[name='${people}']`).val()).toBe("120");
    expect((await ada.send(soup, "Approve", { [people]: "many" })).status).toBe(400);
    await ada.send(soup, "Approve", { [people]: "150", "value.location": "Oslo" });
    const changed = { ...first, beneficiaries_per_year: 150, location: "Oslo" };
    expect((await live(slug)).programs).toEqual([changed]);
    const night = await pageOf("Night school. Evening lessons.");
    const shownNow = "Soup kitchen · Open daily · 150 people a year · Oslo";
    expect(textsOf(night, ".compare td")).toEqual([
      shownNow,
      `${shownNow}\nNight school · Night school. Evening lessons.`,
    ]);
    const broken = await ada.send(night, "Approve", { value: '{"name": "Night school' });
    expect(broken.status).toBe(400);
    await ada.send(night, "Approve");
    const { programs } = await live(slug);
    expect(programs.map(({ name }) => name)).toEqual(["Soup kitchen", "Night school"]);
  });

  test("is rejected with a reason, and never without one", async () => {
    const slug = await aSlug();
    const id = await submit(slug, "bot-a", "mission", "Nonsense.");
    const page = await ada.get(`/desk/reviews/prose-${id}`);
    const refused = await ada.send(page, "Reject", { reason: "  " });
    expect(refused.status).toBe(400);
    expect(alerts(refused)).toContain("Say why");
    await ada.send(refused, "Reject", { reason: "Not a mission" });
    expect((await live(slug)).mission).toBeNull();
    const again = await service.submit(slug, "bot-a", "mission", "We cook.");
    const told = [{ reason: "Not a mission", winning_value: null }];
    expect(again.prior_rejections).toMatchObject(told);
    const late = shown((await ada.send(page, "Reject", { reason: "" })).$("main").text());
    expect(late).toContain("Nothing waits under this id any more.");
    expect(late).not.toContain("Send");
    const gone = await grace.get(`/desk/reviews/prose-${id}`);
    expect(alerts(gone)).toMatch(/^Sample Trust \d+: mission was rejected by ada/);
    expect(alerts(gone)).toContain("Not a mission");
  });

  test("of a field that was filled meanwhile can only be rejected, and says so", async () => {
    const slug = await aSlug();
    const id = await submit(slug, "bot-a", "mission", "Late.");
    const page = await ada.get(`/desk/reviews/prose-${id}`);
    await service.change(slug, { mission: "Ours." });
    const refused = await ada.send(page, "Approve");
    expect(refused.status).toBe(409);
    expect(alerts(refused)).toContain("never overwritten");
    expect(refused.$(".compare td").first().text()).toBe("Ours.");
    expect(alerts(await ada.send(refused, "Reject", { reason: "filled" }))).toContain(
      "rejected by ada",
    );
  });
});

test("two operators decide the same: the first wins, the second reads who it was", async () => {
  const slug = await aSlug();
  const id = await submit(slug, "bot-a", "mission", "Food for all.");
  const [one, two] = [
    await ada.get(`/desk/reviews/prose-${id}`),
    await grace.get(`/desk/reviews/prose-${id}`),
  ];
  const answers = await Promise.all([
    ada.send(one, "Approve"),
    grace.send(two, "Reject", { reason: "no" }),
  ]);
  const late = answers.filter(({ status }) => status === 409);
  expect(late).toHaveLength(1);
  expect(alerts(late[0] as DeskPage)).toContain("Your decision changed nothing");
  const { count, entries } = await service.ask(`audit?subject=prose-${id}`);
  expect(count).toBe(1);
  expect(alerts(late[0] as DeskPage)).toContain(`by ${entries[0].operator}`);
});

test("a contested value is chosen, or typed", async () => {
  const chosen = await aSlug();
  const typed = await aSlug();
  for (const slug of [chosen, typed]) {
    await submit(slug, "bot-a", "city", "Oslo");
    await submit(slug, "bot-b", "city", "Bergen");
  }
  const page = await ada.get(`/desk/reviews/contested-${(await live(chosen)).id}-city`);
  const said = shown(page.$("table.rows").first().find("tbody").text());
  expect(said).toMatch(/^Oslo ?bot-a ?https:\/\/a\.example\/about.*Bergen ?bot-b/);
  const none = await ada.send(page, "Approve");
  expect(none.status).toBe(400);
  expect(alerts(none)).toContain("Send value: the correct value");
  await ada.send(page, "Approve", { choice: "Bergen" });
  const provenance = { city: { set_by: "operator", agents: ["bot-b"] } };
  expect(await live(chosen)).toMatchObject({ city: "Bergen", provenance });
  const other = await ada.get(`/desk/reviews/contested-${(await live(typed)).id}-city`);
  await ada.send(other, "Approve", { choice: "Oslo", value: "Tromsø" });
  expect((await live(typed)).city).toBe("Tromsø");
});

test("a contradicted value is shown beside what contradicts it, and may be kept", async () => {
  const slug = await aSlug();
  for (const agent of ["bot-a", "bot-b"]) await submit(slug, agent, "city", "Oslo");
  for (const agent of ["bot-c", "bot-d"]) await submit(slug, agent, "city", "Bergen");
  const page = await ada.get(`/desk/reviews/revert-${(await live(slug)).id}-city`);
  expect(textsOf(page, ".compare td")).toEqual(["Oslo", "nothing"]);
  expect(shown(page.$("table.rows").eq(1).text())).toContain("Bergen");
  await ada.send(page, "Reject", { reason: "Oslo is right" });
  expect((await live(slug)).city).toBe("Oslo");
});

describe("a queue", () => {
  test("leads from one to the next, around to the first, and ends", async () => {
    await service.emptyQueues();
    const slug = await aSlug();
    const ids: string[] = [];
    for (const agent of ["bot-1", "bot-2", "bot-3"])
      ids.push(`prose-${await submit(slug, agent, "mission", `By ${agent}.`)}`);
    const queue = await ada.get("/desk/queues/prose");
    expect(links(queue)).toEqual(ids);
    const second = await ada.get(`/desk/reviews/${ids[1]}`);
    const third = await ada.send(second, "Reject", { reason: "no" });
    expect(third.path).toBe(`/desk/reviews/${ids[2]}?done=${ids[1]}`);
    const first = await ada.send(third, "Reject", { reason: "no" });
    expect(first.path).toBe(`/desk/reviews/${ids[0]}?done=${ids[2]}`);
    const empty = await ada.send(first, "Reject", { reason: "no" });
    expect(empty.path).toBe(`/desk/queues/prose?done=${ids[0]}`);
    expect(empty.$("main").text()).toContain("Nothing waits here");
    expect(alerts(empty)).toMatch(/: mission was rejected by ada/);
  });

  test("of more than a page has a next page; counts are of the whole", async () => {
    const slugs = await service.add(...Array.from({ length: 51 }, () => aNonprofit()));
    for (const { slug } of slugs) await submit(slug, "bot-p", "mission", `Of ${slug}.`);
    const page = await ada.get("/desk/queues/prose");
    expect(links(page)).toHaveLength(50);
    expect(page.$("main").text()).toContain("51 waiting");
    const next = await ada.get(page.$("a[rel=next]").attr("href") ?? "");
    expect(links(next)).toHaveLength(1);
    expect(new Set([...links(page), ...links(next)]).size).toBe(51);
    expect(next.$("a[rel=next]").length).toBe(0);
    expect((await ada.get("/desk")).$("td.number").first().text()).toMatch(/^\d/);
    const skipped = await ada.get(`/desk/reviews/${links(page)[4]}`);
    const left = skipped.$("a[accesskey=n]").attr("href") ?? "";
    expect((await ada.get(left)).path).toBe(`/desk/reviews/${links(page)[5]}`);
  });

  test("names what waits, and shows equal proposals as one row that is decided once", async () => {
    await service.emptyQueues();
    const slug = await aSlug();
    const { name } = await live(slug);
    const ids: string[] = [];
    for (const agent of ["bot-q", "bot-r", "bot-s"])
      ids.push(`prose-${await submit(slug, agent, "mission", "We cook alike.")}`);
    const other = await submit(slug, "bot-t", "tagline", "Soup for all");
    const page = await ada.get("/desk/queues/prose");
    expect(links(page)).toEqual([ids[0] ?? "", `prose-${other}`]);
    expect(shown(page.$("tbody").text())).toMatch(
      `${name}: mission o We cook alike. Proposed 3 times`,
    );
    expect(page.$("main").text()).not.toContain("prose-");
    const box = page.$("input[type=checkbox]").first().attr("name") ?? "";
    expect(box).toBe(`review.${ids.join(",")}`);
    const all = Array.from({ length: 101 }, (_, at) => `prose-${at + 1}`).join(",");
    const tooMany = { [`review.${all}`]: "1", decision: "rejected", reason: "Spam." };
    expect(alerts(await ada.send(page, "Approve the ticked", tooMany))).toBe(
      "At most 100 can be decided at once, and 101 are ticked: tick fewer.",
    );
    const ticked = { [box]: "1", "review.prose-999999": "1", decision: "approved" };
    const done = await ada.send(page, "Approve the ticked", ticked);
    expect(shown(alerts(done))).toBe(
      "1 approved. prose-999999: Nothing with this id waits for a decision.",
    );
    expect(links(done)).toEqual([`prose-${other}`]);
    expect((await live(slug)).mission).toBe("We cook alike.");
  });

  test("lets no rival values be ticked, and approved unseen", async () => {
    const slug = await aSlug();
    const rivals = [
      `prose-${await submit(slug, "bot-u", "description", "We bake bread.")}`,
      `prose-${await submit(slug, "bot-v", "description", "We sell cars.")}`,
    ];
    const page = await ada.get("/desk/queues/prose");
    const boxes = page.$("input[type=checkbox]").map((_, box) => page.$(box).attr("name"));
    for (const id of rivals) {
      expect(links(page)).toContain(id);
      expect(boxes.get().join()).not.toContain(id);
    }
    expect(shown(page.$("tbody").text()).match(/rival values/g)).toHaveLength(2);
    await service.emptyQueues();
  });

  test("names every field of a claim, so that none is approved unseen", async () => {
    const claim = {
      claim_slug: await aSlug(),
      contact_email: "office@queue-names.org",
      contact_name: "Ada Okello",
      tagline: "Meals for all",
      donation_url: "https://queue-names.org/donate",
      logo_url: "https://queue-names.org/logo.png",
      programs: "Night classes: five evenings a week",
    };
    expect((await service.post("/api/onboard", claim)).status).toBe(200);
    const page = await ada.get("/desk/queues/onboarding");
    expect(shown(page.$("tbody").text())).toContain(
      "Changes as well: programs, contact email, verified",
    );
  });

  test.each(["queues/constructor", "queues/x", "reviews/prose-0", "reviews/__proto__"])(
    "of a kind that no one knows is not found: %s",
    async (path) => expect((await ada.get(`/desk/${path}`)).status).toBe(404),
  );
});

test("a correction is shown with what is said, and accepted with another value", async () => {
  const [record] = await service.add(aNonprofit({ city: "Nairobi" }));
  const slug = record?.slug ?? "";
  const body = { field: "city", what_is_wrong: "<b>They moved.</b>", suggested_value: "Kisumu" };
  expect((await service.post(`/api/corrections/${slug}`, body)).status).toBe(200);
  const list = await ada.get("/desk/queues/correction");
  expect(shown(list.$("tbody").text())).toMatch(/: city o Kisumu/);
  const page = await ada.get(`/desk/reviews/${links(list)[0]}`);
  expect(page.$("main").text()).toContain(body.what_is_wrong);
  expect(shown(page.$("table.compare tbody").text())).toBe("cityNairobiKisumu");
  expect(page.$("textarea[name=value]").attr("required")).toBe("required");
  const done = await ada.send(page, "Approve", { value: "Kakamega" });
  expect(alerts(done)).toContain("was approved by ada");
  expect((await live(slug)).city).toBe("Kakamega");
});

test("an address cannot make the desk say what is not in the log", async () => {
  const page = await ada.get("/desk/queues?done=All%20wallets%20are%20approved");
  expect(alerts(page)).toBe("");
});

test("the log is filtered by form, and shows everything in it", async () => {
  const log = await ada.get("/desk/log");
  const operators = textsOf(log, "select[name=operator] option").map(shown);
  expect(operators.slice(0, 2)).toEqual(["any", "ada"]);
  const filtered = await ada.get("/desk/log?operator=ada&action=review.rejected&subject=");
  const actions = textsOf(filtered, "tbody td:nth-child(3)");
  expect(actions.length).toBeGreaterThan(3);
  expect(new Set(actions)).toEqual(new Set(["review.rejected"]));
  expect((await ada.get("/desk/log?before=x")).status).toBe(200);
  expect((await ada.get("/desk/log?operator=nobody")).$("main").text()).toContain(
    "The log has no such entries",
  );
});

test("a store that is busy is said kindly, and nothing is lost", async () => {
  const slug = await aSlug();
  const id = await submit(slug, "bot-a", "mission", "Food.");
  const busy = { ...service.store, write: () => Promise.reject(new StoreBusy()) };
  const stuck = await aService({ context: { ...service.context, store: busy } });
  const at = aVisitor(stuck);
  for (const [name, value] of ada.cookies) at.cookies.set(name, value);
  const answer = await at.send(await at.get(`/desk/reviews/prose-${id}`), "Approve");
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(alerts(answer)).toContain("Send the request again");
  expect((await ada.get(`/desk/reviews/prose-${id}`)).$("h2").text()).toContain("Decide");
});
