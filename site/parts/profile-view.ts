import { linkHost, safeLink } from "#content/nonprofit/website.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { BuildInputs } from "./build-inputs.ts";
import { type GivingView, givingView } from "./giving-view.ts";
import { nonprofitJsonLd } from "./json-ld.ts";
import { fieldName, type Origin, originsOf } from "./origins.ts";
import { counted, grouped, joined, metaText, oneOf, paragraphs } from "./words.ts";

/** One line of the facts of a profile; `href` is a link that `safeLink` let through. */
export type Fact = { label: string; text: string; href?: string };

/** A profile as its page shows it: every decision about words and links is made here, the page only draws. */
export type ProfileView = {
  slug: string;
  path: string;
  title: string;
  description: string;
  jsonLd: string;
  name: string;
  tagline: string | null;
  place: string;
  verified: boolean;
  withdrawn: boolean;
  facts: Fact[];
  mission: string[];
  about: string[];
  programs: { name: string; text: string | null; note: string }[];
  metrics: { name: string; value: string; note: string }[];
  registrations: { country: string; type: string; number: string; orgId: string | null }[];
  causes: { href: string; name: string }[];
  giving: GivingView;
  /** The empty fields that the directory asks for: "mission, city or region"; empty for none. */
  missing: string;
  /** A command that adds the first missing value. */
  enrichExample: string;
  origins: Origin[];
  updatedDay: string;
};

/** All that the page of a nonprofit says. `detail` is what the record says in public. */
export function profileView(
  record: NonprofitRecord,
  detail: NonprofitDetail,
  build: BuildInputs,
): ProfileView {
  const { baseUrl } = build;
  const { slug, name, tagline } = detail;
  const path = `/nonprofits/${slug}`;
  const withdrawn = detail.status === "withdrawn";
  const website = safeLink(detail.website);
  const giving = givingView(detail, build);
  const donationPage = giving.page?.href ?? null;
  const place = joined([detail.city, detail.region, detail.country], ", ");
  const missing = withdrawn ? [] : thinFields(record);
  return {
    slug,
    path,
    title: `${metaText(name, 90)} · Almoner`,
    description: metaText(tagline ?? detail.mission ?? plainDescription(detail, place), 200),
    jsonLd: nonprofitJsonLd(detail, { profile: baseUrl + path, website, donationPage }),
    name,
    tagline,
    place,
    verified: detail.verified === 1,
    withdrawn,
    facts: factsOf(detail, website),
    mission: paragraphs(detail.mission),
    about: paragraphs(detail.description),
    programs: programsOf(detail),
    metrics: detail.impact_metrics.map((metric) => ({
      name: metric.name,
      value: metric.unit === null ? metric.value : `${metric.value} ${metric.unit}`,
      note: metric.period ?? "",
    })),
    registrations: registrationsOf(record, detail),
    causes: detail.causes.map((cause) => ({ href: `/causes/${cause.id}`, name: cause.name })),
    giving,
    missing: oneOf(missing.map(fieldName)),
    enrichExample: enrichExample(slug, missing[0] ?? "website", baseUrl),
    origins: originsOf(detail.provenance),
    updatedDay: detail.updated_at.slice(0, 10),
  };
}

const plainDescription = (detail: NonprofitDetail, place: string): string =>
  `${detail.name}${place === "" ? "" : `, ${place}`}: profile, registrations and ways to give in an open directory of nonprofits.`;

function factsOf(detail: NonprofitDetail, website: string | null): Fact[] {
  const facts: Fact[] = [];
  const add = (label: string, text: string | null, href?: string) => {
    if (text !== null && text !== "")
      facts.push(href === undefined ? { label, text } : { label, text, href });
  };
  const people = detail.beneficiaries_per_year;
  const budget = detail.annual_budget_usd;
  if (website !== null) add("Website", linkHost(website), website);
  add("Founded", detail.founded_year === null ? null : String(detail.founded_year));
  add("People reached in a year", people === null ? null : grouped(people));
  add("Annual budget", budget === null ? null : `US$ ${grouped(budget)}`);
  add("Team", detail.team_size === null ? null : counted(detail.team_size, "person", "people"));
  return facts;
}

const programsOf = (detail: NonprofitDetail): ProfileView["programs"] =>
  detail.programs.map((program) => ({
    name: program.name,
    text: program.description,
    note: joined(
      [
        program.location,
        program.beneficiaries_per_year === null
          ? null
          : `${counted(program.beneficiaries_per_year, "person", "people")} a year`,
      ],
      " · ",
    ),
  }));

const registrationsOf = (
  record: NonprofitRecord,
  detail: NonprofitDetail,
): ProfileView["registrations"] =>
  detail.registrations.map(({ country, type, registration_number }, at) => ({
    country,
    type,
    number: registration_number,
    orgId: record.registrations[at]?.org_id ?? null,
  }));

const enrichExample = (slug: string, field: string, baseUrl: string): string =>
  `curl -X POST ${baseUrl}/api/enrich/${slug} -H "Content-Type: application/json" \\
  -d '{"field": "${field}", "value": "…", "source_url": "https://…", "agent_id": "your-agent"}'`;
