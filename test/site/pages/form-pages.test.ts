import { afterAll, describe, expect, test } from "bun:test";
import { load } from "cheerio";
import { doAll } from "#content/store/query.ts";
import { saveRecordsWithoutProfile } from "#content/register/import-store.ts";
import { corrections } from "#content/store/tables/enrichment.ts";
import { facetNames } from "#content/contract/browse.ts";
import { openDrawing } from "#scripts/start/drawing.ts";
import { aRenderer, aRichNonprofit } from "#test/support/compiled-site.ts";
import { hostileNames } from "#test/support/hostile-markup.ts";
import { textsAt } from "#test/support/page-table.ts";
import { aService } from "#test/support/service.ts";

const service = await aService({
  env: { ALMONER_TRUSTED_HOPS: "1" },
  context: {
    draw: openDrawing({ dataDir: "", baseUrl: "https://almoner.example", network: "local" }, () =>
      aRenderer(),
    ),
  },
  records: [aRichNonprofit({ slug: "lantern", name: "Lantern <b>School" })],
});
afterAll(() => service.close());

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
  return { $, text, texts, status: response.status, type: response.headers.get("content-type") };
};

test("a page that is drawn when it is asked for is compressed for browsers that take it", async () => {
  const asked = { ...browser, "accept-encoding": "gzip, br" };
  const { headers, body } = await service.get("/search?q=lantern", asked);
  expect(headers.get("content-encoding")).toBe("gzip");
  expect(headers.get("vary")).toContain("accept-encoding");
  const html = await new Response(body?.pipeThrough(new DecompressionStream("gzip"))).text();
  expect(load(html)("h1").text()).toBe("1 nonprofit for “lantern”");
  expect((await service.get("/search?q=lantern", browser)).headers.get("content-encoding")).toBe(
    null,
  );
});

describe.each(hostileNames)("the word “%s” is a word", (word) => {
  test("in every question of a list and of a search", async () => {
    for (const facet of [...facetNames, "q", "sort"]) {
      for (const page of ["/browse", "/search", "/es/browse", "/es/search", "/fr/search"]) {
        const answer = await service.get(`${page}?${facet}=${word}`, browser);
        expect([page, facet, answer.status < 500]).toEqual([page, facet, true]);
      }
    }
    const page = await read(await service.get(`/es/browse?city=${word}&country=US`, browser));
    expect([page.status, page.text(".chips").includes(word)]).toEqual([200, true]);
  });

  test("in what is stored, in every language", async () => {
    const slug = `a-${word.toLowerCase()}`;
    await service.add(
      aRichNonprofit({ slug, name: word, city: word, region: word, registrations: [] }),
    );
    for (const path of [`/es/nonprofits/${slug}`, `/es/browse?city=${word}`, "/es/browse?page=1"]) {
      const page = await read(await service.get(path, browser));
      expect([path, page.status, page.text("main").includes(word)]).toEqual([path, 200, true]);
    }
  });
});

describe("an organisation without a profile has a page", () => {
  const record = {
    org_id: "US-EIN-990305781",
    register: "irs-revocations",
    name: "Gone <b>Anglers</b>",
    as_of: "2026-04-14",
    scope: "",
    finances: [] as never[],
    state: "revoked",
    facts: { revoked: "2020-05-15" },
  } as const;

  test("that says what registers say, as text and in markdown", async () => {
    await service.store.write((tx) => doAll(tx, saveRecordsWithoutProfile([record])));
    const page = await read(await service.get("/organisations/990305781", browser));
    expect([page.status, page.text("h1")]).toEqual([200, "Gone <b>Anglers</b>"]);
    expect(page.text("main")).toMatch(/Standing: revoked.*as of 14 April 2026/);
    const asked = { accept: "text/markdown" };
    const answer = await service.get("/organisations/990305781", asked);
    expect(answer.headers.get("content-type")).toStartWith("text/markdown");
    const markdown = await answer.text();
    expect(markdown).toContain("# Gone \\<b\\>Anglers");
    expect(markdown).toContain("## Standing: revoked");
    const answers = page.$("dl.facts").first().text();
    expect(answers).toMatch(/Gifts deductible.*no.*Tax exemption revoked.*15 May 2020/s);
  });

  test("that says what it filed, where no register lists it", async () => {
    const facts = { form: "990-N", period_end: "2025-12-31" };
    const org_id = "US-EIN-990305772";
    const filed = { ...record, org_id, register: "irs-990n", state: "filed", facts } as const;
    await service.store.write((tx) => doAll(tx, saveRecordsWithoutProfile([filed])));
    const page = await read(await service.get(`/organisations/${org_id}`, browser));
    const text = page.text("main").replaceAll(/\s+/g, " ");
    expect(text).toMatch(/Standing: (?:not listed|unknown)/);
    expect(text).toMatch(/31 December 2025 It ended 4 months before.*Form 990-N.*no figures/);
    expect(text).toMatch(/IRS Form 990-N \(e-Postcard\) ?filed as of 14 April 2026/);
  });
});

describe("an organisation without a profile has a page in other languages", () => {
  test.each(["es", "fr"])("in %s, without English but its name", async (language) => {
    for (const number of ["990305781", "US-EIN-990305780", "GB-SC-041666"]) {
      const page = await read(await service.get(`/${language}/organisations/${number}`, browser));
      expect([page.status, page.$("html").attr("lang")]).toEqual([200, language]);
      page.$("h1, .languages").remove();
      expect(page.text("body")).not.toMatch(/\b(?:the|this|not|register|gifts|says|listed)\b/i);
    }
  });

  test("leads to the profile in its language", async () => {
    const answer = await service.get("/es/organisations/US-EIN-530196605", browser);
    expect([answer.status, answer.headers.get("location")]).toEqual([
      308,
      "/es/nonprofits/lantern",
    ]);
  });
});

describe("a person whose request is refused is shown a page", () => {
  test.each([
    ["/search?page=-1", 400, "page is a whole number from 1."],
    ["/history/nobody", 404, "There is nothing here"],
    ["/organisations/12", 400, "nine digits"],
    ["/browse?sort=nothing", 400, "sort is one of"],
  ])("at %s: %d", async (path, status, words) => {
    const page = await read(await service.get(path, browser));
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

  test("that says how long to wait, with the header for it", async () => {
    const from = { "x-forwarded-for": "10.7.0.1" };
    for (let at = 0; at < 10; at++) await send("/api/onboard", {}, from);
    const refused = await send("/api/onboard", {}, from);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const page = await read(refused);
    expect([page.status, page.text("h1")]).toEqual([429, "Please wait a moment"]);
    expect(page.text("main")).toMatch(/Try again in \d+ (?:seconds?|minutes?)/);
  });

  test("that fits what was sent, and says nothing of what is hidden", async () => {
    const file = new FormData();
    file.append("name", "Harbour Room");
    const form = await read(await send("/api/onboard", file));
    expect([form.status, form.text("h1")]).toEqual([415, "This was not accepted"]);
    expect(form.text("main")).not.toMatch(/CSV|JSON|Content-Type/);
    const correction = await read(await send("/api/corrections/lantern", { what_is_wrong: "No." }));
    expect([correction.status, correction.$(".values a").length > 5]).toEqual([400, true]);
    expect(correction.text("main")).not.toContain("field is");
    const claim = { claim_slug: "lantern", contact_email: "a@b.example", corrects: "odd" };
    const hidden = await read(await send("/api/onboard", claim));
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
    const found = await read(await service.get("/onboard?q=lantern"));
    expect(found.text(".matches .button")).toBe("This is us: Lantern <b>School");
    expect(found.$(".matches .button").attr("href")).toBe("/onboard?claim=lantern");
    expect(found.$('a[href="/onboard?register=1&q=lantern"]').length).toBe(1);
    const number = await read(await service.get("/onboard?q=53-0196605"));
    expect(number.$(".matches .button").attr("href")).toBe("/onboard?claim=lantern");
    const address = encodeURIComponent("https://almoner.example/nonprofits/lantern?x#y");
    expect((await read(await service.get(`/onboard?q=${address}`))).text("h1")).toBe(
      "Change Lantern <b>School",
    );
    const none = await read(await service.get("/onboard?q=zzzz"));
    expect(none.text("#found")).toBe("Nothing found for “zzzz”");
    expect((await service.get("/onboard?claim=nobody", browser)).status).toBe(404);
  });

  test("that is refused comes back with a summary that leads to the fields, and all that was typed", async () => {
    const page = await read(
      await send("/api/onboard", {
        ...{ claim_slug: "lantern", contact_email: "<b>", website: "https://bit.ly/x" },
        ...{ mission: 'We "teach" & <i>learn</i>.', country: "Kenya" },
      }),
    );
    expect([page.status, page.type]).toEqual([400, "text/html; charset=utf-8"]);
    expect(page.text("title")).toStartWith("Error: ");
    // Beside the wallet, which alone has to do with money.
    expect(page.text("form details .notice")).toStartWith("Test network.");
    expect(page.texts(".faults a@href")).toEqual(["#field-website", "#field-contact_email"]);
    expect(page.$(".faults").attr("autofocus")).toBeDefined();
    for (const link of ["#field-website", "#field-contact_email"]) {
      const field = page.$(link);
      expect(field.attr("aria-invalid")).toBe("true");
      expect(field.attr("aria-describedby")).toContain(`${link.slice(1)}-wrong`);
    }
    expect(page.$("#field-contact_email").attr("value")).toBe("<b>");
    expect(page.$("#field-mission").text()).toBe('We "teach" & <i>learn</i>.');
    expect(page.$("#field-country option[selected]").text()).toBe("Kenya");
    expect(page.$("#field-country option").length).toBeGreaterThan(190);
    expect(page.$("[name=claim_slug]").attr("value")).toBe("lantern");
  });

  test("names every fault at once, what is missing and what is wrong", async () => {
    const page = await read(
      await send("/api/onboard", { claim_slug: "lantern", contact_email: "", website: "ftp://x" }),
    );
    expect(page.texts(".faults a@href")).toEqual(["#field-website", "#field-contact_email"]);
  });

  test("of an organisation that is not listed needs name, country and address", async () => {
    const page = await read(await send("/api/onboard", { name: "", country: "", city: "Oslo" }));
    expect(page.texts(".faults a")).toEqual([
      "Enter the name of the organisation",
      "Choose the country",
      "Enter your e-mail address",
    ]);
  });

  test("leads to a page that says what happens next, without a script too", async () => {
    const taken = await send("/api/onboard", {
      ...{ name: "Harbour Room", country: "Norway", contact_email: "office@harbour.example" },
    });
    const link = taken.headers.get("location") ?? "";
    const page = await read(
      await send("/api/onboard/status/page", { secret: `https://almoner.example${link}` }),
    );
    expect(page.text(".stage")).toBe("Waits for review");
    expect(page.text("main")).toContain("What happens next");
    expect(page.text("#status-link")).toBe(`https://almoner.example${link}`);
    const secret = link.slice(link.indexOf("#") + 1);
    const gone = await read(
      await send("/api/onboard/status/page", { secret, code: "", do: "withdraw" }),
    );
    expect(gone.text(".stage")).toBe("Not approved");
    expect(gone.text("main")).toContain("Withdrawn by its sender.");
    const unknown = await read(await send("/api/onboard/status/page", { secret: "x".repeat(43) }));
    expect([unknown.status, unknown.text("#status-said")]).toEqual([
      404,
      expect.stringContaining("Nothing was found for this link"),
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

test("the address to which a button sends leads a browser back to the page", async () => {
  for (const [path, page] of [
    ["/api/onboard/status/page", "/onboard/status"],
    ["/api/corrections/status/page?language=fr", "/fr/corrections/status"],
  ] as const) {
    const answer = await service.get(path, browser);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, page]);
  }
});

test("a sender is told how long others waited, once there are enough", async () => {
  const taken = await send("/api/corrections/lantern", { field: "name", what_is_wrong: "No." });
  const secret = taken.headers.get("location") ?? "";
  const words = async () =>
    (await read(await send("/api/corrections/status/page", { secret }))).text("#status");
  expect(await words()).toContain("We aim to decide within 7 days");
  const dayMs = 86_400_000;
  for (let at = 1; at <= 5; at++) {
    await service.store.write((tx) =>
      tx.db.insert(corrections).values({
        ...{ id: `decided-${at}`, nonprofit_id: 1, field: "city", what_is_wrong: "No." },
        ...{ request_digest: `${at}`, status_digest: `${at}`, reviewed_by: "ada" },
        // A rejection is a decision, too.
        ...{ status: at % 2 === 0 ? "approved" : "rejected" },
        ...{ created_at: at, reviewed_at: at + at * dayMs },
      }),
    );
  }
  expect(await words()).toContain("Usually decided within 3 days.");
});

describe("a correction", () => {
  test("is offered for every value, with what the profile says and where it comes from", async () => {
    const fields = await read(await service.get("/corrections?profile=lantern"));
    const links = ["name", "mission", "city", "causes", "programs", "usdc_wallet"].map(
      (field) => `/corrections?profile=lantern&field=${field}`,
    );
    expect(fields.texts(".values a@href")).toEqual(expect.arrayContaining(links));
    const page = await read(await service.get("/corrections?profile=lantern&field=city"));
    expect(page.text("h1")).toBe("Correct the city");
    expect(page.text(".present")).toBe(
      "The profile saysKisumuUS Internal Revenue Service, Business Master File, 1 October 2026",
    );
    expect(page.$("form[method=post]").attr("action")).toBe("/api/corrections/lantern");
    const country = await read(await service.get("/corrections?profile=lantern&field=country"));
    expect(country.$("select#field-suggested_value option").length).toBeGreaterThan(190);
    const odd = await service.get("/corrections?profile=lantern&field=odd", browser);
    expect(odd.status).toBe(400);
  });

  test("that is refused comes back with what was typed; one that says nothing new says so", async () => {
    const sent = { field: "city", what_is_wrong: "", suggested_value: "Oslo", source_url: "::" };
    const page = await read(await send("/api/corrections/lantern", sent));
    expect(page.texts(".faults a@href")).toEqual(["#field-what_is_wrong", "#field-source_url"]);
    expect(page.$("#field-suggested_value").attr("value")).toBe("Oslo");
    const same = { field: "city", what_is_wrong: "No.", suggested_value: "Kisumu" };
    const again = await read(await send("/api/corrections/lantern", same));
    expect([again.status, again.text(".faults")]).toEqual([
      409,
      "There is a problemThe profile says exactly this already. If something else is wrong, change what you wrote.",
    ]);
  });

  test("leads to a page that says what happens next", async () => {
    const sent = {
      field: "causes",
      what_is_wrong: "No.",
      suggested_value: "Health, Mental Health",
    };
    const taken = await send("/api/corrections/lantern", sent);
    const link = taken.headers.get("location") ?? "";
    const page = await read(await send("/api/corrections/status/page", { secret: link }));
    expect(page.text(".stage")).toBe("Waits for an operator");
    const profile = page.$('.facts a[href="/nonprofits/lantern"]');
    expect(profile.text()).toBe("Lantern <b>School");
    expect(page.text("main")).toContain("What happens next");
  });
});

describe("a form in another language", () => {
  /** Words that would stand on a page only in English. */
  const inEnglish = /\b(?:the|your|what|this|enter|choose|nothing|send)\b/i;

  test("leads from step to step in its language, and names itself to the service", async () => {
    const found = await read(await service.get("/es/onboard?q=lantern"));
    expect(found.$("html").attr("lang")).toBe("es");
    expect(found.text(".matches .button")).toBe("Somos nosotros: Lantern <b>School");
    expect(found.$(".matches .button").attr("href")).toBe("/es/onboard?claim=lantern");
    const claim = await read(await service.get("/es/onboard?claim=lantern"));
    expect(claim.$("#onboard").attr("action")).toBe("/api/onboard?language=es");
    expect(claim.text("#field-country option")).toContain("Países Bajos");
    expect(claim.$('.languages [lang="fr"]').attr("href")).toBe("/fr/onboard?claim=lantern");
    const values = await read(await service.get("/fr/corrections?profile=lantern"));
    expect(values.$('.values a[href$="city"]').attr("href")).toBe(
      "/fr/corrections?profile=lantern&field=city",
    );
    const city = await read(await service.get("/fr/corrections?profile=lantern&field=city"));
    expect(city.$("form[method=post]").attr("action")).toBe("/api/corrections/lantern?language=fr");
  });

  test("has no English on any page of it but what others wrote", async () => {
    for (const language of ["es", "fr"]) {
      for (const path of [
        ...["/onboard", "/onboard?q=zzzz", "/onboard?claim=lantern", "/onboard?register=1"],
        ...["/corrections?profile=lantern", "/corrections?profile=lantern&field=city"],
        "/corrections?profile=lantern&field=other",
      ]) {
        const page = await read(await service.get(`/${language}${path}`));
        expect(page.status).toBe(200);
        page.$(".known dd, .values p, .present p, .languages").remove();
        expect(page.text("body")).not.toMatch(inEnglish);
      }
    }
  });

  test("comes back in its language, whatever of it cannot be used", async () => {
    const page = await read(
      await send("/api/onboard?language=es", {
        ...{ name: "", country: "Atlantis", contact_email: "<b>", website: "https://bit.ly/x" },
        ...{ usdc_wallet: "x", wallet_signature: "0", mission: "<script>", city: "://" },
        ...{ contact_name: "\u0000", registration_number: "x".repeat(500) },
      }),
    );
    expect([page.status, page.$("html").attr("lang")]).toEqual([400, "es"]);
    expect(page.text("title")).toStartWith("Error: Añada su organización");
    expect(page.$(".faults a").length).toBeGreaterThan(6);
    expect(page.text("main")).not.toMatch(inEnglish);
    for (const field of ["website", "founded_year", "causes", "country", "team_size"]) {
      const sent = { field, what_is_wrong: "Non.", suggested_value: "<b>:// 7e99" };
      const refused = await read(await send("/api/corrections/lantern?language=fr", sent));
      expect([refused.status, refused.text(".faults h2")]).toEqual([400, "Il y a un problème"]);
      refused.$(".present p").remove();
      expect(refused.text("main")).not.toMatch(inEnglish);
    }
  });

  test("leads to a status in its language", async () => {
    const taken = await send("/api/onboard?language=fr", {
      ...{ name: "Chambre du port", country: "Norway", contact_email: "office@port.example" },
    });
    const link = taken.headers.get("location") ?? "";
    expect(link).toStartWith("/fr/onboard/status#");
    const status = (fields: Record<string, string>, language = "fr") =>
      send(`/api/onboard/status/page?language=${language}`, { secret: link, ...fields });
    const page = await read(await status({}));
    expect(page.text(".stage")).toBe("En attente d’examen");
    expect(page.text("#status-link")).toBe(`https://almoner.example${link}`);
    expect(page.text(".facts")).toMatch(/Envoyé\d\d? \p{L}+ \d{4}, \d\d:\d\d UTC/u);
    expect(page.text("main")).not.toMatch(inEnglish);
    for (const button of ["look", "mail", "confirm", "withdraw"]) {
      expect((await read(await status({ do: button }))).text("main")).not.toMatch(inEnglish);
    }
    expect((await read(await status({}, "es"))).text("main")).toContain(
      "El motivo: Retirada por quien la envió.",
    );
    const sent = { field: "causes", what_is_wrong: "Non." };
    const correction = await send("/api/corrections/lantern?language=fr", sent);
    const secret = correction.headers.get("location") ?? "";
    expect(secret).toStartWith("/fr/corrections/status#");
    const corrected = await send("/api/corrections/status/page?language=fr", { secret });
    expect((await read(corrected)).text("main")).not.toMatch(inEnglish);
  });

  test("is refused in its language", async () => {
    const from = { "x-forwarded-for": "10.7.0.2" };
    for (let at = 0; at < 10; at++) await send("/api/onboard?language=es", {}, from);
    const refused = await read(await send("/api/onboard?language=es", {}, from));
    expect([refused.status, refused.text("h1")]).toEqual([429, "Espere un momento"]);
    expect(refused.text("main")).toMatch(/dentro de \d+ (?:segundo|minuto)s?\./);
    const missing = await read(await service.get("/fr/onboard?claim=nobody", browser));
    expect([missing.status, missing.$("html").attr("lang")]).toEqual([404, "fr"]);
    expect(missing.text("main")).not.toMatch(inEnglish);
  });
});

test("no page of a form speaks of slugs, status_url or http(s)", async () => {
  const paths = ["/onboard?q=lantern", "/onboard?claim=lantern", "/onboard?register=1"];
  const more = ["/corrections?profile=lantern", "/corrections?profile=lantern&field=website"];
  for (const path of [...paths, ...more]) {
    const page = await read(await service.get(path, browser));
    expect(page.text("main")).not.toMatch(/\bslug\b|status_url|http\(s\)|contact_email|claim_slug/);
  }
});
