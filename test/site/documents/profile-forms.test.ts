import { expect, test } from "bun:test";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { profileKey } from "#site/documents/profile.ts";
import { aRichNonprofit, theSite } from "#test/support/compiled-site.ts";
import { ofHtml, ofJson, ofJsonLd, ofMarkdown } from "#test/support/profile-forms.ts";
import { aNonprofit, anEin, aRegisterRecord } from "#test/support/records.ts";
import { aService } from "#test/support/service.ts";

/** All of the sample, or a spread of it: a page takes a parser of HTML five milliseconds. */
const isFull = process.env["ALMONER_FULL_TESTS"] === "1";
const profiles = isFull ? 41_000 : 2_000;
const step = isFull ? 1 : 19;

/**
 * Tokens, by words of up to seven letters, capitals by twos, digits by threes, and each other sign alone. OpenAI's
 * tokenizers count 0.84 to 1.006 times as many in these profiles.
 */
const tokens = (text: string): number =>
  text.match(/\p{Lu}?\p{Ll}{1,7}|\p{Lu}{1,2}|\p{L}|\d{1,3}|[^\s\p{L}\d]|\n+/gu)?.length ?? 0;

/** A register set these fields, and the causes by a rule. */
const fromRegister = (source: string, fields: string[], rule: string, source_url: string | null) =>
  Object.fromEntries(
    ["name", "country_code", ...fields, "causes"].map((field) => {
      const more = { source, source_url, ...(field === "causes" && { rule }) };
      return [field, sourceFrom("register", Date.parse("2026-04-14"), more)];
    }),
  );

/** What the IRS says of nearly all it lists. */
const registered = aNonprofit({
  slug: "thin",
  name: "Friends of the Sparks Library",
  annual_budget_usd: 1_234_567.89,
  country_code: "US",
  region: "Nevada",
  city: "Sparks",
  registrations: [anEin("53-0196606")],
  register_records: [
    aRegisterRecord({
      org_id: "US-EIN-530196606",
      facts: {
        subsection: "03",
        deductibility: "1",
        foundation: "15",
        ruling: "1994-07",
        filing: "01",
        year_end: "12",
        tax_period: "2024-12",
        income: 3_312_400,
        revenue: -500,
        assets: 0,
      },
    }),
  ],
  provenance: fromRegister(
    "irs-bmf",
    ["region", "city", "registrations"],
    "NTEE B70 → Education (high)",
    null,
  ),
});

const withdrawn = aRichNonprofit({
  slug: "gone",
  status: "withdrawn",
  registrations: [],
  register_records: [
    aRegisterRecord({
      register: "ukcat",
      org_id: "GB-CHC-210183",
      state: "gone",
      facts: {
        registered: "1990-08-02",
        objects: "To help (all of Sparks): by books, and by_reading…",
      },
    }),
  ],
});

/** What the British registers say of a small charity, in its own words. */
const british = aNonprofit({
  slug: "british",
  name: "Stepping Stones Pre-School (Bath)",
  country_code: "GB",
  website: "http://steppingstonesbath.example",
  mission: "Provision of pre-school childcare",
  description:
    "To enhance the development and education of children primarily under statutory school age by encouraging parents to understand and provide for the needs of their children through community groups and by: (a) offering appropriate play facilities and training courses, together with the right of parents to take responsibility for and to become involved in the activities of such groups, ensuring that such groups offer opportunities for all children regardless of race, culture, religion or means (b) encouraging the study of the needs of such children and their families and promoting public interest in and recognition of such needs in the local areas (c) instigating and adhering to and furthering the aim of the Pre-school learning alliance.",
  register_records: [
    aRegisterRecord({
      register: "ukcat",
      org_id: "GB-CHC-1083646",
      facts: {
        registered: "2000-11-24",
        income: 67_013,
        spending: 65_380,
        accounts_to: "2019-03-31",
        regulator: "CHC",
        company_number: "04036600",
      },
    }),
  ],
  provenance: fromRegister(
    "ukcat",
    ["website", "mission", "description"],
    "ICNPTSO class D20 → Education",
    "https://register-of-charities.charitycommission.gov.uk/charity-details/?regid=1083646&subid=0",
  ),
});

const site = await theSite();
await seedDirectory(site.store, { profiles, seedNumber: 1 });
await site.save([aRichNonprofit(), registered, withdrawn, british]);
const service = await aService({ context: { store: site.store } });

/** What this directory and registers say of an organisation is not in JSON-LD. */
const notOfOrganisation = new Set(["status", "provenance", "register_facts", "updated_at"]);

async function overMcp(detail: NonprofitDetail): Promise<NonprofitDetail> {
  const params = { name: "get_nonprofit", arguments: { slug: detail.slug, full: true } };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const answer = (await (await service.post("/mcp", call)).json()) as {
    result: { structuredContent: NonprofitDetail };
  };
  return withSilent(detail, answer.result.structuredContent) as NonprofitDetail;
}

/** Tools leave out what says nothing: that is filled in again, and nothing else. */
function withSilent(whole: unknown, part: unknown): unknown {
  if (part === undefined)
    return ["null", "0", "[]", "{}"].includes(JSON.stringify(whole)) ? whole : part;
  if (Array.isArray(whole) && Array.isArray(part))
    return part.map((one, at) => withSilent(whole[at], one));
  if (typeof whole !== "object" || whole === null || typeof part !== "object") return part;
  const names = new Set([...Object.keys(whole), ...Object.keys(part ?? {})]);
  const [from, to] = [whole, part] as Record<string, unknown>[];
  return Object.fromEntries([...names].map((name) => [name, withSilent(from?.[name], to?.[name])]));
}

test(`page, JSON-LD, markdown, JSON and MCP say the same, of ${isFull ? "all" : "some"} profiles`, async () => {
  const counts: number[] = [];
  const ids = Array.from({ length: Math.ceil(profiles / step) }, (_, at) => 1 + at * step);
  for (const id of [...ids, profiles + 1, profiles + 2, profiles + 3, profiles + 4]) {
    const files = await site.files(profileKey(id));
    const [html = "", json = ""] = Object.values(files).map((text) => text ?? "");
    const detail: NonprofitDetail = JSON.parse(json);
    const markdown = files[`nonprofits/${detail.slug}.md`] ?? "";
    const known = ofJson(detail);
    const ld = JSON.parse(
      /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)?.[1] ?? "",
    );
    const forms = {
      html: ofHtml(html),
      jsonLd: ofJsonLd(ld),
      markdown: ofMarkdown(markdown),
      mcp: ofJson(await overMcp(detail)),
    };
    const organisation = Object.fromEntries(
      Object.entries(known).filter(([fact]) => !notOfOrganisation.has(fact)),
    );
    for (const [form, facts] of Object.entries(forms)) {
      const whole = form === "html" ? ofJson(detail, { onPage: true }) : known;
      const expected = form === "jsonLd" ? organisation : whole;
      const name = { form, slug: detail.slug };
      expect({ ...name, ...facts }).toEqual({ ...name, ...expected });
    }
    counts.push(tokens(markdown));
    if (detail.slug === "thin") expect(markdown).toContain("US$ 3,312,400");
    if (["thin", "british"].includes(detail.slug))
      expect(tokens(markdown)).toBeLessThanOrEqual(600);
  }
  const place = (share: number) =>
    counts.toSorted((a, b) => a - b)[Math.floor(counts.length * share)];
  expect(place(0.5)).toBeLessThanOrEqual(500);
  expect(place(0.85)).toBeLessThanOrEqual(600);
}, 3_600_000);
