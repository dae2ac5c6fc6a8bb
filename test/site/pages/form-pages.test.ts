import { describe, expect, test } from "bun:test";
import { load } from "cheerio";
import { doAll } from "#content/store/query.ts";
import { saveRecordsWithoutProfile } from "#content/register/import-store.ts";
import { corrections } from "#content/store/tables/enrichment.ts";
import { facetNames } from "#content/contract/browse.ts";
import { openDrawing } from "#scripts/start/drawing.ts";
import { aRenderer, aRichNonprofit } from "#test/support/compiled-site.ts";
import { hostileNames } from "#test/support/hostile-markup.ts";
import { expectPage, textsAt } from "#test/support/page-table.ts";
import { aRegisterRecord } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const place = { dataDir: "", baseUrl: "https://almoner.example", network: "local" } as const;
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1" },
  context: { draw: openDrawing(place, aRenderer) },
  records: [aRichNonprofit({ slug: "lantern", name: "Lantern <b>School" })],
});

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
let clients = 0;
const send = (path: string, fields: Record<string, string> | FormData, headers = {}) =>
  service.app.handle(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { ...browser, "x-forwarded-for": `10.6.0.${clients++}`, ...headers },
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
    }),
  );
const read = async (response: Response) => {
  const $ = load(await response.text());
  const text = (selector: string) => $(selector).text().replaceAll(/\s+/g, " ").trim();
  const texts = (where: string) => textsAt($, where);
  const attr = (selector: string, name: string) => $(selector).attr(name);
  const type = response.headers.get("content-type");
  return { $, text, texts, attr, status: response.status, type, headers: response.headers };
};
const pageAt = async (path: string) => read(await service.get(path, browser));
const answerTo = async (...sent: Parameters<typeof send>) => read(await send(...sent));
/** Sends a form that is taken, and answers the link to its status. */
const linkAfter = async (path: string, fields: Record<string, string>) =>
  (await send(path, fields)).headers.get("location") ?? "";

test("a page that is drawn when it is asked for is compressed for browsers that take it", async () => {
  const asked = { ...browser, "accept-encoding": "gzip, br" };
  const { headers, body } = await service.get("/search?q=lantern", asked);
  expect(headers.get("content-encoding")).toBe("gzip");
  expect(headers.get("vary")).toContain("accept-encoding");
  const html = await new Response(body?.pipeThrough(new DecompressionStream("gzip"))).text();
  expect(load(html)("h1").text()).toBe("1 nonprofit for “lantern”");
  const plain = await service.get("/search?q=lantern", browser);
  expect(plain.headers.get("content-encoding")).toBeNull();
});

describe.each(hostileNames)("the word “%s” is a word", (word) => {
  test("in every question of a list and of a search", async () => {
    const pages = ["/browse", "/search", "/es/browse", "/es/search", "/fr/search"];
    for (const [at, facet] of [...facetNames, "q", "sort"].entries()) {
      const path = pages[(at + hostileNames.indexOf(word)) % pages.length] ?? "";
      // Small letters alone stay as they are where a name is looked up: such a word meets every page in every question.
      for (const page of word === "constructor" ? pages : [path]) {
        const answer = await service.get(`${page}?${facet}=${word}`, browser);
        expect([page, facet, answer.status < 500]).toEqual([page, facet, true]);
      }
    }
    const page = await pageAt(`/es/browse?city=${word}&country=US`);
    expect([page.status, page.text(".chips").includes(word)]).toEqual([200, true]);
  });

  test("in what is stored, in every language", async () => {
    const slug = `a-${word.toLowerCase()}`;
    await service.add(
      aRichNonprofit({ slug, name: word, city: word, region: word, registrations: [] }),
    );
    for (const path of [`/es/nonprofits/${slug}`, `/es/browse?city=${word}`, "/es/browse?page=1"]) {
      const page = await pageAt(path);
      expect([path, page.status, page.text("main").includes(word)]).toEqual([path, 200, true]);
    }
  });
});

test("an organisation without a profile has a page that says what registers say, as text and in markdown", async () => {
  const record = aRegisterRecord({
    org_id: "US-EIN-990305781",
    register: "irs-revocations",
    state: "revoked",
    name: "Gone <b>Anglers</b>",
    facts: { revoked: "2020-05-15" },
  });
  // Another one is in no register, and filed a return.
  const filed = aRegisterRecord({
    org_id: "US-EIN-990305772",
    register: "irs-990n",
    state: "filed",
    facts: { form: "990-N", period_end: "2025-12-31" },
  });
  const { store } = service;
  await store.write((tx) => doAll(tx, saveRecordsWithoutProfile([record, filed])));
  const page = await pageAt("/organisations/990305781");
  expect([page.status, page.text("h1")]).toEqual([200, "Gone <b>Anglers</b>"]);
  expect(page.text("main")).toMatch(/Standing: revoked.*as of 14 April 2026/);
  expect(page.$("dl.facts").first().text()).toMatch(
    /Gifts deductible.*no.*Tax exemption revoked.*15 May 2020/s,
  );
  const markdown = await service.get("/organisations/990305781", { accept: "text/markdown" });
  expect(markdown.headers.get("content-type")).toStartWith("text/markdown");
  expect(await markdown.text()).toMatch(/# Gone \\<b\\>Anglers.*## Standing: revoked/s);
  const text = (await pageAt("/organisations/US-EIN-990305772")).text("main");
  expect(text).toMatch(/Standing: (?:not listed|unknown)/);
  expect(text).toMatch(/31 December 2025 It ended 4 months before.*Form 990-N.*no figures/);
  expect(text).toMatch(/IRS Form 990-N \(e-Postcard\) ?filed as of 14 April 2026/);
});

test.each(["es", "fr"])(
  "an organisation without a profile has a page in %s, without English but its name; one with a profile leads there",
  async (language) => {
    for (const number of ["990305781", "US-EIN-990305780", "GB-SC-041666"]) {
      const page = await pageAt(`/${language}/organisations/${number}`);
      expect([page.status, page.attr("html", "lang")]).toEqual([200, language]);
      page.$("h1, .languages").remove();
      expect(page.text("body")).not.toMatch(/\b(?:the|this|not|register|gifts|says|listed)\b/i);
    }
    const { status, headers } = await pageAt(`/${language}/organisations/US-EIN-530196605`);
    expect([status, headers.get("location")]).toEqual([308, `/${language}/nonprofits/lantern`]);
  },
);

describe("a person whose request is refused is shown a page", () => {
  test.each([
    ["/search?page=-1", 400, "page is a whole number from 1."],
    ["/history/nobody", 404, "There is nothing here"],
    ["/nonprofits/lantern", 404, "What was added just now appears here in a moment."],
    ["/organisations/12", 400, "nine digits"],
    ["/browse?sort=nothing", 400, "sort is one of"],
  ])("at %s: %d", async (path, status, words) => {
    const page = await pageAt(path);
    expect([page.status, page.type]).toEqual([status, "text/html; charset=utf-8"]);
    expect(page.text("main")).toContain(words);
    expect(page.$('meta[name="robots"]').attr("content")).toBe("noindex");
    // A program gets what it got before.
    const problem = await service.get(path, { accept: "*/*" });
    expect(problem.headers.get("content-type")).toBe("application/problem+json");
  });

  test("for a table that is too large, and for a form", async () => {
    const table = new FormData();
    table.append("table", new File(["x".repeat(70_000)], "names.csv"));
    for (const sent of [
      await send("/reconcile/csv", table),
      await send("/api/onboard", { mission: "x".repeat(70_000) }),
    ]) {
      const page = await read(sent);
      expect([page.status, page.text("h1")]).toEqual([413, "This is too much at once"]);
      expect(page.text("main")).toContain("what you typed is still there");
      expect(page.text("main")).toContain("Nothing was stored.");
    }
  });

  test.each([
    ["en", "Please wait a moment", /Try again in \d+ (?:seconds?|minutes?)/],
    ["es", "Espere un momento", /dentro de \d+ (?:segundo|minuto)s?\./],
  ])("that says in %s how long to wait, with the header for it", async (language, title, words) => {
    const from = { "x-forwarded-for": language === "en" ? "10.7.0.1" : "10.7.0.2" };
    const ask = () => answerTo(`/api/onboard?language=${language}`, {}, from);
    for (let at = 0; at < 10; at++) expect((await ask()).status).toBe(400);
    const refused = await ask();
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect([refused.status, refused.text("h1")]).toEqual([429, title]);
    expect(refused.text("main")).toMatch(words);
  });

  test("that fits what was sent, and says nothing of what is hidden", async () => {
    const file = new FormData();
    file.append("name", "Harbour Room");
    const form = await answerTo("/api/onboard", file);
    expect([form.status, form.text("h1")]).toEqual([415, "This was not accepted"]);
    expect(form.text("main")).not.toMatch(/CSV|JSON|Content-Type/);
    const correction = await answerTo("/api/corrections/lantern", { what_is_wrong: "No." });
    expect([correction.status, correction.$(".values a").length > 5]).toEqual([400, true]);
    expect(correction.text("main")).not.toContain("field is");
    const claim = { claim_slug: "lantern", contact_email: "a@b.example", corrects: "odd" };
    const hidden = await answerTo("/api/onboard", claim);
    expect([hidden.status, hidden.text(".faults")]).toEqual([
      400,
      "There is a problemThis cannot be accepted as it is. Please look through what you wrote.",
    ]);
  });

  test("but not where programs ask", async () => {
    for (const path of ["/api/search?limit=x", "/reconcile?callback=x", "/api/nothing"]) {
      const answer = await service.get(path, browser);
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    }
  });
});

describe("a claim", () => {
  test("begins with a search, by name, by number or by the address of a profile", async () => {
    const claim = ["This is us: Lantern <b>School"];
    const found = await pageAt("/onboard?q=lantern");
    expectPage(found.$, [
      [".matches .button", claim],
      [".matches .button@href", ["/onboard?claim=lantern"]],
      ['a[href="/onboard?register=1&q=lantern"]', 1],
      ["main", "None of these?"],
    ]);
    expectPage((await pageAt("/onboard")).$, [["main", "Not in the directory yet?"]]);
    expectPage((await pageAt("/onboard?q=53-0196605")).$, [[".matches .button", claim]]);
    const address = encodeURIComponent("https://almoner.example/nonprofits/lantern?x#y");
    expectPage((await pageAt(`/onboard?q=${address}`)).$, [["h1", ["Change Lantern <b>School"]]]);
    expectPage((await pageAt("/onboard?q=zzzz")).$, [["#found", ["Nothing found for “zzzz”"]]]);
    expect((await pageAt("/onboard?claim=nobody")).status).toBe(404);
  });

  test("that is refused comes back with a summary that leads to the fields, and all that was typed", async () => {
    const page = await answerTo("/api/onboard", {
      claim_slug: "lantern",
      contact_email: "<b>",
      website: "https://bit.ly/x",
      mission: 'We "teach" & <i>learn</i>.',
      country: "Kenya",
    });
    expect([page.status, page.type]).toEqual([400, "text/html; charset=utf-8"]);
    const faulty = "#field-website, #field-contact_email";
    expectPage(page.$, [
      ["title", /^title: Error: /],
      // Beside the wallet, which alone has to do with money.
      ["form details .notice", /^form details .notice: Test network\./],
      [".faults a@href", faulty.split(", ")],
      [".faults[autofocus]", 1],
      [`:is(${faulty})[aria-invalid=true]`, 2],
      ["#field-website@aria-describedby", "field-website-wrong"],
      ["#field-contact_email@aria-describedby", "field-contact_email-wrong"],
      ["#field-contact_email@value", ["<b>"]],
      ["#field-mission", ['We "teach" & <i>learn</i>.']],
      ["#field-country option[selected]", ["Kenya"]],
      ["[name=claim_slug]@value", ["lantern"]],
    ]);
    expect(page.$("#field-country option").length).toBeGreaterThan(190);
  });

  test("of an organisation that is not listed needs name, country and address", async () => {
    const page = await answerTo("/api/onboard", { name: "", country: "", city: "Oslo" });
    expect(page.texts(".faults a")).toEqual([
      "Enter the name of the organisation",
      "Choose the country",
      "Enter your e-mail address",
    ]);
  });
});

test("the page of a status survives any body, and its buttons have the limit of a claim", async () => {
  for (const path of ["/api/onboard/status/page", "/api/corrections/status/page"]) {
    for (const body of [{ secret: 5, do: [] }, null, [], "x"]) {
      expect((await service.post(path, body, browser)).status).toBe(404);
    }
  }
  const from = { "x-forwarded-for": "10.8.0.1" };
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++) {
    const fields = { secret: "x".repeat(43), do: "look" };
    statuses.push((await send("/api/onboard/status/page", fields, from)).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 404), 429]);
});

test.each([
  ["/api/onboard/status/page", "/onboard/status"],
  ["/api/corrections/status/page?language=fr", "/fr/corrections/status"],
])("the address to which a button sends, %s, leads a browser back to %s", async (path, page) => {
  const answer = await service.get(path, browser);
  expect([answer.status, answer.headers.get("location")]).toEqual([303, page]);
});

test("a sender is told how long others waited, once there are enough", async () => {
  const sent = { field: "name", what_is_wrong: "No." };
  const secret = await linkAfter("/api/corrections/lantern", sent);
  const status = async () => (await answerTo("/api/corrections/status/page", { secret })).$;
  expectPage(await status(), [
    [".stage", ["Waits for an operator"]],
    ['.facts a[href="/nonprofits/lantern"]', ["Lantern <b>School"]],
    ["#status", "We aim to decide within 7 days"],
  ]);
  const dayMs = 86_400_000;
  for (let at = 1; at <= 5; at++) {
    await service.store.write((tx) =>
      tx.db.insert(corrections).values({
        id: `decided-${at}`,
        nonprofit_id: 1,
        field: "city",
        what_is_wrong: "No.",
        request_digest: `${at}`,
        status_digest: `${at}`,
        reviewed_by: "ada",
        // A rejection is a decision, too.
        status: at % 2 === 0 ? "approved" : "rejected",
        created_at: at,
        reviewed_at: at + at * dayMs,
      }),
    );
  }
  expectPage(await status(), [["#status", "Usually decided within 3 days."]]);
});

describe("a correction", () => {
  test("is offered for every value, with what the profile says and where it comes from", async () => {
    const fields = await pageAt("/corrections?profile=lantern");
    const links = ["name", "mission", "city", "causes", "programs", "usdc_wallet"].map(
      (field) => `/corrections?profile=lantern&field=${field}`,
    );
    expect(fields.texts(".values a@href")).toEqual(expect.arrayContaining(links));
    // What the profile does not say stands below, and nothing twice.
    const offered = fields.texts('main a[href*="&field="]@href');
    expect(new Set(offered).size).toBe(offered.length);
    const from = "US Internal Revenue Service, Business Master File, 1 October 2026";
    expectPage((await pageAt("/corrections?profile=lantern&field=city")).$, [
      ["h1", ["Correct the city"]],
      [".present", [`The profile saysKisumu${from}`]],
      ["form[method=post]@action", ["/api/corrections/lantern"]],
    ]);
    const country = await pageAt("/corrections?profile=lantern&field=country");
    expect(country.$("select#field-suggested_value option").length).toBeGreaterThan(190);
    expect((await pageAt("/corrections?profile=lantern&field=odd")).status).toBe(400);
  });

  test("that is refused comes back with what was typed; one that says nothing new says so", async () => {
    const sent = { field: "city", what_is_wrong: "", suggested_value: "Oslo", source_url: "::" };
    expectPage((await answerTo("/api/corrections/lantern", sent)).$, [
      [".faults a@href", ["#field-what_is_wrong", "#field-source_url"]],
      ["#field-suggested_value@value", ["Oslo"]],
    ]);
    const same = { field: "city", what_is_wrong: "No.", suggested_value: "Kisumu" };
    const again = await answerTo("/api/corrections/lantern", same);
    expect(again.status).toBe(409);
    expect(again.text(".faults")).toContain("The profile says exactly this already.");
  });
});

describe("a form in another language", () => {
  /** Words that would stand on a page only in English. */
  const inEnglish = /\b(?:the|your|what|this|enter|choose|nothing|send)\b/i;

  test("leads from step to step in its language, and names itself to the service", async () => {
    expectPage((await pageAt("/es/onboard?q=lantern")).$, [
      ["html@lang", ["es"]],
      [".matches .button", ["Somos nosotros: Lantern <b>School"]],
      [".matches .button@href", ["/es/onboard?claim=lantern"]],
    ]);
    expectPage((await pageAt("/es/onboard?claim=lantern")).$, [
      ["#onboard@action", ["/api/onboard?language=es"]],
      ["#field-country option", "Países Bajos"],
      ['.languages [lang="fr"]@href', ["/fr/onboard?claim=lantern"]],
    ]);
    const ofCity = "/fr/corrections?profile=lantern&field=city";
    expectPage((await pageAt("/fr/corrections?profile=lantern")).$, [
      ['.values a[href$="city"]@href', [ofCity]],
    ]);
    expectPage((await pageAt(ofCity)).$, [
      ["form[method=post]@action", ["/api/corrections/lantern?language=fr"]],
    ]);
  });

  const steps = [
    "/onboard",
    "/onboard?q=zzzz",
    "/onboard?claim=lantern",
    "/onboard?register=1",
    ...["", "&field=city", "&field=website", "&field=other"].map(
      (field) => `/corrections?profile=lantern${field}`,
    ),
  ];
  const missing = "/onboard?claim=nobody";
  test.each([...steps, missing])(
    "has no English but what others wrote, and no names of ours: %s",
    async (path) => {
      for (const language of ["es", "fr"]) {
        const page = await pageAt(`/${language}${path}`);
        expect(page.status).toBe(path === missing ? 404 : 200);
        expect(page.attr("html", "lang")).toBe(language);
        page.$(".known dd, .values p, .present p, .languages").remove();
        expect(page.text("body")).not.toMatch(inEnglish);
      }
      expect((await pageAt(path)).text("main")).not.toMatch(
        /\bslug\b|status_url|http\(s\)|contact_email|claim_slug/,
      );
    },
  );

  test("comes back in its language, whatever of it cannot be used", async () => {
    const page = await answerTo("/api/onboard?language=es", {
      name: "",
      country: "Atlantis",
      contact_email: "<b>",
      website: "https://bit.ly/x",
      usdc_wallet: "x",
      wallet_signature: "0",
      mission: "<script>",
      city: "://",
      contact_name: "\u0000",
      registration_number: "x".repeat(500),
    });
    expect([page.status, page.attr("html", "lang")]).toEqual([400, "es"]);
    expect(page.text("title")).toStartWith("Error: Añada su organización");
    expect(page.$(".faults a").length).toBeGreaterThan(6);
    expect(page.text("main")).not.toMatch(inEnglish);
    for (const field of ["website", "founded_year", "causes", "country", "team_size"]) {
      const sent = { field, what_is_wrong: "Non.", suggested_value: "<b>:// 7e99" };
      const refused = await answerTo("/api/corrections/lantern?language=fr", sent);
      expect([refused.status, refused.text(".faults h2")]).toEqual([400, "Il y a un problème"]);
      refused.$(".present p").remove();
      expect(refused.text("main")).not.toMatch(inEnglish);
    }
  });

  test("leads to a status in its language", async () => {
    const fields = { country: "Norway", contact_email: "office@port.example" };
    const link = await linkAfter("/api/onboard?language=fr", { name: "Le port", ...fields });
    expect(link).toStartWith("/fr/onboard/status#");
    const status = (button = "", language = "fr") =>
      answerTo(`/api/onboard/status/page?language=${language}`, { secret: link, do: button });
    expectPage((await status()).$, [
      [".stage", ["En attente d’examen"]],
      ["#status-link", [`https://almoner.example${link}`]],
      [".facts", /Envoyé ?\d\d? \p{L}+ \d{4}, \d\d:\d\d UTC/u],
    ]);
    for (const button of ["", "look", "mail", "confirm", "withdraw"])
      expect((await status(button)).text("main")).not.toMatch(inEnglish);
    expect((await status("", "es")).text("main")).toContain(
      "El motivo: Retirada por quien la envió.",
    );
    const sent = { field: "causes", what_is_wrong: "Non." };
    const secret = await linkAfter("/api/corrections/lantern?language=fr", sent);
    expect(secret).toStartWith("/fr/corrections/status#");
    const corrected = await answerTo("/api/corrections/status/page?language=fr", { secret });
    expect(corrected.text("main")).not.toMatch(inEnglish);
  });
});
