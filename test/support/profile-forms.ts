import { english } from "#content/language/texts.ts";
import { safeLink } from "#content/nonprofit/safe-link.ts";
import { load } from "cheerio";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { dateInWords, stateInWords } from "#content/nonprofit/register-facts.ts";
import { factsBeside, fieldName, originOf } from "#site/profile/profile-facts.ts";

const byLabel = ([one = ""]: (string | undefined)[], [other = ""]: (string | undefined)[]) =>
  one < other ? -1 : 1;

/** What a form says, by fact. A list is one text, so that a missing item is a difference. */
type Facts = Record<string, string>;

const tidy = (text: unknown): string =>
  String(text ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
const lines = (items: readonly unknown[]): string =>
  items
    .map((item) => JSON.stringify(item))
    .toSorted()
    .join("\n");
const digits = (text: string): string =>
  `${text.startsWith("−") ? "-" : ""}${text.replaceAll(",", "").match(/\d+(?:\.\d+)?/)?.[0] ?? ""}`;
const addresses: readonly string[] = ["website", "donation_url"];
const numbers: readonly string[] = [
  "beneficiaries_per_year",
  "annual_budget_usd",
  "team_size",
  "founded_year",
];
const single = ["city", "region", "country", "usdc_wallet", ...addresses, ...numbers];

const periods: Readonly<Record<string, string>> = {
  "a year": "annual",
  "since the start": "cumulative",
};
/** A figure of impact: people read "6,200 households a year" of 6200, households and annual. */
const metric = (name: unknown, value: unknown, period: unknown): string[] => [
  tidy(name),
  tidy(value).replace(/^\d{1,3}(?:,\d{3})+(?![\d,.])/, (count) => count.replaceAll(",", "")),
  periods[tidy(period)] ?? tidy(period),
];

/** "Kisumu · 300 people a year" → Kisumu, 300. */
function placeAndReach(note: string) {
  const reach = /(?:^| · )([\d,]+) (?:person|people) a year$/.exec(note);
  return { location: note.slice(0, reach?.index), people: digits(reach?.[1] ?? "") };
}

/** An amount as it is in every form: "3312400 USD, year to December 2024". */
const amount = (value: string, currency: string | undefined, period: string | undefined) =>
  `${value} ${currency}${period === undefined ? "" : `, ${period}`}`;
const currencies: Readonly<Record<string, string>> = { US$: "USD", "£": "GBP", A$: "AUD" };
const signOf = (text: string) => currencies[/US\$|A\$|£/.exec(text)?.[0] ?? ""];
const periodOf = (text: string) => /, (year to .*)$/.exec(text)?.[1];

/** The JSON of a profile, as the bundle and MCP give it; `onPage`: as its page has it, where a register is linked in its own section. */
export function ofJson(detail: NonprofitDetail, { onPage = false } = {}): Facts {
  const sections = new Set(onPage ? detail.register_facts.map(({ register }) => register) : []);
  const open = detail.status !== "withdrawn";
  const facts: Facts = {
    name: tidy(detail.name),
    tagline: tidy(detail.tagline),
    mission: tidy(detail.mission),
    description: tidy(detail.description),
    status: detail.status,
    causes: detail.causes.map(({ name }) => name).join(),
    programs: lines(
      detail.programs.map((one) => [
        tidy(one.name),
        tidy(one.description),
        tidy(one.location),
        String(one.beneficiaries_per_year ?? ""),
      ]),
    ),
    impact_metrics: lines(
      detail.impact_metrics.map(({ name, value, unit, period }) =>
        metric(name, `${value} ${unit ?? ""}`, period),
      ),
    ),
    registrations: lines(
      detail.registrations.map(({ type, registration_number }) =>
        tidy(`${type} ${registration_number}`),
      ),
    ),
    identifiers: lines(detail.identifiers),
    register_facts: lines(
      detail.register_facts.map((one) => [
        stateInWords(one),
        safeLink(one.record_url) ?? "",
        one.attribution,
        factsBeside(one, detail)
          .map(({ label, value, currency, period, form }) => [
            label,
            currency === undefined
              ? tidy(dateInWords(String(value)))
              : amount(
                  String(value),
                  currency,
                  [period, form].filter(Boolean).join(", ") || undefined,
                ),
          ])
          .toSorted(byLabel),
      ]),
    ),
    provenance: lines(
      Object.entries(detail.provenance).map(([field, from]) => {
        const { source, link, day } = originOf(from, english);
        const isLinked = !sections.has(from.source.replace(/^\w+:/, ""));
        return [fieldName(field, english), source, (isLinked && link?.href) || "", day];
      }),
    ),
    updated_at: detail.updated_at,
  };
  for (const field of single) {
    const value: unknown = detail[field as keyof NonprofitDetail];
    facts[field] = addresses.includes(field) ? (safeLink(String(value ?? "")) ?? "") : tidy(value);
  }
  if (!open) facts["donation_url"] = facts["usdc_wallet"] = "";
  return facts;
}

export function ofHtml(html: string): Facts {
  const $ = load(html);
  const text = (selector: string) => tidy($(selector).text());
  const section = (field: string) =>
    tidy(
      $(`[data-field=${field}] > p`)
        .toArray()
        .map((p) => $(p).text())
        .join(" "),
    );
  const listed = (selector: string) =>
    $(selector)
      .toArray()
      .map((one) => $(one));
  const origins = listed(".origins li").flatMap((li) => {
    const fields = li.find(".note").text().split(", ");
    li.find(".note").remove();
    const href = li.find("a").attr("href") ?? "";
    li.find("a").remove();
    const [, source = "", date] = /^(.*?)(?: \(\))?, ([^,]*)$/.exec(tidy(li.text())) ?? [];
    const day = new Date(`${date} UTC`).toISOString().slice(0, 10);
    return fields.map((field) => [field, source, href, day]);
  });
  const facts: Facts = {
    name: text("h1"),
    tagline: text(".profile .tagline"),
    mission: section("mission"),
    description: section("description"),
    status: text(".notice strong").startsWith("Withdrawn")
      ? "withdrawn"
      : text(".marks").startsWith("Claimed")
        ? "claimed"
        : "listed",
    causes: listed(".marks a")
      .map((one) => tidy(one.text()))
      .join(),
    programs: lines(
      listed("[data-field=programs] li").map((li) => {
        const { location, people } = placeAndReach(tidy(li.find(".note").text()));
        return [tidy(li.find("h3").text()), tidy(li.find("p:not(.note)").text()), location, people];
      }),
    ),
    impact_metrics: lines(
      listed(".metrics > div").map((one) => {
        const value = tidy(one.find("strong").text());
        return metric(
          one.find("dt").text(),
          value,
          tidy(one.find("dd").text()).slice(value.length),
        );
      }),
    ),
    registrations: lines(
      listed("[data-field=registrations] li").map((li) =>
        tidy(li.clone().find(".note").remove().end().text()),
      ),
    ),
    identifiers: lines(
      listed("[data-field=registrations] .note").flatMap(
        (one) => / · (\S+-\S+)/.exec(tidy(one.text()))?.[1] ?? [],
      ),
    ),
    register_facts: lines(
      listed(".register").map((one) => [
        one.find(".state").text(),
        one.find("p a:not(:last-child)").attr("href") ?? "",
        /of \d+ \w+ \d+\. (?:The public record\. )?(.*)\. Licence: /.exec(
          tidy(one.find("> p").text()),
        )?.[1],
        one
          // An answer stands in the place of the fact that it is made of; a British one stands beside it.
          .find(
            "dl > div:not([data-answer]), :not(:has(dt:contains(accounts))) > [data-answer=latest_return]",
          )
          .toArray()
          .map((row) => {
            const words = tidy($(row).find("dd").clone().find(".note").remove().end().text());
            const exact = $(row).find("data").attr("value");
            const value =
              exact === undefined ? words : amount(exact, signOf(words), periodOf(words));
            return [$(row).find("dt").text(), value];
          })
          .toSorted(byLabel),
      ]),
    ),
    provenance: lines(origins),
    updated_at: $("time").attr("datetime") ?? "",
    usdc_wallet: text("code.wallet"),
    donation_url:
      $(".give a[data-way=donation_page]")
        .first()
        .attr("href")
        ?.replace(/^\/donate\/.*/, "") ?? "",
    website: $("[data-field=website] a").attr("href") ?? "",
  };
  for (const field of ["city", "region", "country"]) facts[field] = text(`[data-field=${field}]`);
  for (const field of numbers) facts[field] = digits(text(`[data-field=${field}] dd`));
  return facts;
}

const plain = (text: string) => text.replaceAll(/\\(.)/g, "$1");
const items = (text: string) => [...text.matchAll(/^- (.*)$/gm)].map(([, item = ""]) => item);
/** What the first group of a pattern holds; "" where it does not match. */
const found = (pattern: RegExp, text: string): string => pattern.exec(text)?.[1] ?? "";

export function ofMarkdown(markdown: string): Facts {
  const sections = markdown.split(/\n## |\n<\/third-party-data>/);
  const [head = ""] = sections;
  const body = (title: string) =>
    sections
      .find((one) => one.startsWith(`${title}\n`))
      ?.slice(title.length + 1)
      .trim() ?? "";
  const facts = new Map<string, string[]>();
  for (const item of items(head)) {
    const [, label = "", value = ""] = /^(.*?): (.*)$/.exec(item) ?? [];
    facts.set(label, [...(facts.get(label) ?? []), plain(value.replace(/^<(.*)>$/, "$1"))]);
  }
  const fact = (label: string) => facts.get(label)?.[0] ?? "";
  const entries = (title: string) =>
    items(body(title)).map((item) => {
      const [, name = "", text = "", note = ""] =
        /^\*\*(.*?)\*\*(?:: (.*?))?(?: \(([^()]*)\))?$/.exec(item) ?? [];
      return { name: plain(name), text: plain(text), note: plain(note) };
    });
  const registered = (facts.get("Registered") ?? []).map(
    (one) => /^(.*) \(([^()]*)\)$/.exec(one) ?? [],
  );
  return {
    name: plain(found(/^# (.*)$/m, head)),
    tagline: plain(found(/^> (.*)$/m, head)),
    mission: tidy(plain(body("Mission"))),
    description: tidy(plain(body("About"))),
    status: tidy({ dir: "listed", cla: "claimed", wit: "withdrawn" }[fact("Status").slice(0, 3)]),
    causes: fact("Causes").replaceAll(", ", ","),
    programs: lines(
      entries("Programmes").map(({ name, text, note }) => {
        const { location, people } = placeAndReach(note);
        return [name, text, location, people];
      }),
    ),
    impact_metrics: lines(
      entries("Impact").map(({ name, text, note }) => metric(name, text, note)),
    ),
    registrations: lines(registered.map(([, number = ""]) => number)),
    identifiers: lines(
      registered.flatMap(([, , note = ""]) =>
        note.split(", ").filter((one) => /^\S+-\S+$/.test(one)),
      ),
    ),
    register_facts: lines(
      sections.filter((one) => one.includes("\n- Licence: ")).map(registerInMarkdown),
    ),
    provenance: lines(
      items(body("Sources")).flatMap((item) => {
        const [, source = "", , above, own = "", day = "", fields = ""] =
          /^(.*?)( (\(link above\))?(?:<(.*)>)?)?, (\d{4}-\d\d-\d\d): (.*)$/.exec(item) ?? [];
        const href = above === undefined ? own : found(/^In.* as of .*<(.*)>$/m, markdown);
        return fields.split(", ").map((field) => [field, plain(source), href, day]);
      }),
    ),
    updated_at: found(/Changed: (\S+)$/m, markdown),
    usdc_wallet: fact("USDC wallet").replace(/ on .*/, ""),
    donation_url: fact("Donation page"),
    website: fact("Website"),
    city: fact("City"),
    region: fact("Region"),
    country: fact("Country"),
    ...Object.fromEntries(
      numbers.map((field) => {
        const name = fieldName(field, english);
        return [field, digits(fact(name.charAt(0).toUpperCase() + name.slice(1)))];
      }),
    ),
  };
}

function registerInMarkdown(section: string) {
  const [, state = "", , href = ""] = /\n\n([^:\n]*)(: <(.*)>)?\n/.exec(section) ?? [];
  const all = items(section).map(plain);
  const facts = all.slice(0, -1).map((item) => {
    const [, label = "", value = ""] = /^(.*?): (.*)$/.exec(item) ?? [];
    const currency = /^−?(?:US\$|£|A\$)/.test(value) ? signOf(value) : undefined;
    return [
      label,
      currency === undefined ? value : amount(digits(value), currency, periodOf(value)),
    ];
  });
  // The name of the licence follows where the attribution does not have it.
  const licence = /^Licence: (.*?)(?:; (?:Public domain .*|CC BY \S+ AU))?$/.exec(all.at(-1) ?? "");
  return [state, href, licence?.[1], facts.toSorted(byLabel)];
}

/** A node of JSON-LD, with the properties that are read here. */
type Node = {
  name?: string;
  description?: string;
  url?: string;
  value?: string | number;
  propertyID?: string;
  unitText?: string;
  [property: string]: unknown;
};
const nodesOf = (value: unknown): Node[] => (Array.isArray(value) ? (value as Node[]) : []);
const nodeOf = (value: unknown): Node => (value ?? {}) as Node;
const measuredOf = (node: Node, id: string): Node[] =>
  nodesOf(node["variableMeasured"]).filter(({ propertyID }) => propertyID === id);

/** What schema.org has a property for. */
export function ofJsonLd(ld: Node): Facts {
  const own = nodeOf(ld["subjectOf"]);
  const measured = (id: string): string => tidy(measuredOf(own, id)[0]?.value);
  const identifiers = (orgIds: boolean) =>
    nodesOf(ld["identifier"]).filter(({ propertyID }) => (propertyID === "org-id") === orgIds);
  const ways = Object.groupBy(nodesOf(ld["potentialAction"]), ({ instrument }) =>
    instrument === undefined ? "page" : "wallet",
  );
  const address = nodeOf(ld["address"]);
  return {
    name: tidy(ld.name),
    tagline: tidy(ld["slogan"]),
    mission: tidy(ld.description),
    description: measured("description"),
    causes: nodesOf(ld["knowsAbout"]).join(","),
    programs: lines(
      nodesOf(ld["makesOffer"]).map(({ itemOffered }) => programmeOf(nodeOf(itemOffered))),
    ),
    impact_metrics: lines(
      measuredOf(own, "impact_metrics").map(({ name, value, unitText, description }) =>
        metric(name, `${value} ${unitText ?? ""}`, description),
      ),
    ),
    registrations: lines(identifiers(false).map((one) => tidy(`${one.propertyID} ${one.value}`))),
    identifiers: lines(identifiers(true).map(({ value }) => value)),
    usdc_wallet: tidy(nodeOf(ways.wallet?.[0]?.["instrument"])["identifier"]),
    donation_url: tidy(ways.page?.[0]?.["target"]),
    website: ld["mainEntityOfPage"] === undefined ? "" : tidy(ld.url),
    city: tidy(address["addressLocality"]),
    region: tidy(address["addressRegion"]),
    country: countryName(tidy(address["addressCountry"])) ?? "",
    founded_year: tidy(ld["foundingDate"]),
    team_size: tidy(nodeOf(ld["numberOfEmployees"]).value),
    beneficiaries_per_year: measured("beneficiaries_per_year"),
    annual_budget_usd: measured("annual_budget_usd"),
  };
}

const programmeOf = ({ name, description, areaServed, serviceOutput }: Node) => [
  tidy(name),
  tidy(description),
  tidy(areaServed),
  tidy(nodeOf(serviceOutput).value),
];
