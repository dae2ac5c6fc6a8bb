import type { DonationNetwork } from "#content/contract/transfer.ts";
import {
  type FieldProvenance,
  linkWords,
  type NonprofitDetail,
} from "#content/contract/nonprofit.ts";
import { networks } from "#content/donation/network.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { registerById } from "#content/nonprofit/register-facts.ts";
import { linkHost, safeLink } from "#content/nonprofit/website.ts";
import { nonprofitJsonLd } from "./json-ld.ts";
import { registerHtml } from "./register-html.ts";
import { counted, grouped, joined, quoted, metaText, oneOf, paragraphs } from "./words.ts";

/** A profile as its page shows it. */
export type ProfileView = ReturnType<typeof profileView>;

/**
 * All that the page of a nonprofit says: every decision about words and links is made here, the page only draws.
 * `detail` is what the record says in public.
 */
export function profileView(record: NonprofitRecord, detail: NonprofitDetail, build: BuildInputs) {
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
    whyWithdrawn: whyWithdrawn(detail),
    movedTo:
      detail.merged_into === undefined
        ? null
        : { slug: detail.merged_into, path: `/nonprofits/${detail.merged_into}` },
    facts: factsOf(detail, website),
    texts: [
      { title: "Mission", paragraphs: paragraphs(detail.mission) },
      { title: "About", paragraphs: paragraphs(detail.description) },
    ].filter((text) => text.paragraphs.length > 0),
    programs: programsOf(detail),
    metrics: detail.impact_metrics.map((metric) => ({
      name: metric.name,
      value: metric.unit === null ? metric.value : `${metric.value} ${metric.unit}`,
      note: metric.period ?? "",
    })),
    registrations: registrationsOf(record, detail),
    /** What public registers say, as HTML that is safe. */
    registers: detail.register_facts.map((facts) => registerHtml(facts, detail)).join(""),
    causes: detail.causes.map((cause) => ({ href: `/causes/${cause.id}`, name: cause.name })),
    giving,
    /** The empty fields that the directory asks for: "mission, city or region"; empty for none. */
    missing: oneOf(missing.map(fieldName)),
    /** A command that adds the first missing value. */
    enrichExample: enrichExample(slug, missing[0] ?? "website", baseUrl),
    origins: originsOf(detail.provenance),
    updatedDay: detail.updated_at.slice(0, 10),
  };
}

const plainDescription = (detail: NonprofitDetail, place: string): string =>
  `${detail.name}${place === "" ? "" : `, ${place}`}: profile, registrations and ways to give in an open directory of nonprofits.`;

/** The facts of a profile; `href` is a link that `safeLink` let through. */
function factsOf(detail: NonprofitDetail, website: string | null) {
  const { founded_year, beneficiaries_per_year: people, annual_budget_usd, team_size } = detail;
  const budget = annual_budget_usd === null ? null : `US$ ${grouped(annual_budget_usd)}`;
  const facts: { label: string; text: string | null; href?: string }[] = [
    { label: "Founded", text: founded_year === null ? null : String(founded_year) },
    { label: "People reached in a year", text: people === null ? null : grouped(people) },
    { label: "Annual budget", text: budget },
    { label: "Team", text: team_size === null ? null : counted(team_size, "person", "people") },
  ];
  if (website !== null) facts.unshift({ label: "Website", text: linkHost(website), href: website });
  return facts.filter(({ text }) => text !== null && text !== "");
}

const programsOf = (detail: NonprofitDetail) =>
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

const registrationsOf = (record: NonprofitRecord, detail: NonprofitDetail) =>
  detail.registrations.map(({ country, type, registration_number, linked_by }, at) => ({
    country,
    linked: linked_by === undefined ? "" : ` · linked: ${linkWords[linked_by]}`,
    type,
    number: registration_number,
    orgId: record.registrations[at]?.org_id ?? null,
  }));

const enrichExample = (slug: string, field: string, baseUrl: string): string =>
  `curl -X POST ${baseUrl}/api/enrich/${slug} -H "Content-Type: application/json" \\
  -d '{"field": "${field}", "value": "…", "source_url": "https://…", "agent_id": "your-agent"}'`;

/** The page /donate/{slug} of a nonprofit with a wallet. */
export type DonateView = NonNullable<ReturnType<typeof donateView>>;

/** What the page says, or null for a nonprofit without a wallet: its profile then names other ways to give. */
export function donateView({ name, place, giving }: ProfileView) {
  const { wallet, slug } = giving;
  if (wallet === null) return null;
  return {
    path: `/donate/${slug}`,
    title: `${metaText(`Give to ${name}`, 90)} · Almoner`,
    description: metaText(`Give USDC on Solana straight to the wallet of ${name}.`, 200),
    place,
    giving,
    wallet,
  };
}

/** How to give to a nonprofit: what its profile and its page /donate/{slug} both show. */
export type GivingView = ReturnType<typeof givingView>;

/** What is published must at least look like an address: the letters of base58, 32 bytes. */
const addressForm = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

function whyWithdrawn({ merged_into, provenance, register_facts }: NonprofitDetail): string {
  if (merged_into !== undefined) return "Another profile of this organisation stands in its place,";
  if (provenance["status"]?.source === "operator") {
    return "An operator of this directory withdrew it,";
  }
  const isStillThere = register_facts.some(({ state }) => state === "registered");
  return isStillThere
    ? "Its register no longer has it among the organisations that this directory lists,"
    : "This organisation is no longer in the register that listed it,";
}

/** The ways to give that a page may show; a withdrawn nonprofit has none. */
export function givingView(
  { slug, name, status, donation_url, usdc_wallet, wallet_proof }: NonprofitDetail,
  { baseUrl, network }: BuildInputs,
) {
  const open = status !== "withdrawn";
  const href = open ? safeLink(donation_url) : null;
  const address = open && addressForm.test(usdc_wallet ?? "") ? usdc_wallet : undefined;
  const ask = `${baseUrl}/api/donate/${slug}?amount=5`;
  return {
    slug,
    name,
    /** The organisation's own donation page: a link that `safeLink` let through. */
    page: href === null ? null : { href, host: linkHost(href) },
    /** Null without one: then there is not a page /donate/{slug}. */
    wallet: address === undefined ? null : { address, proven: wallet_proof !== undefined },
    network: networks[network].words,
    /** A command that asks how to pay. */
    askExample: `curl -i "${ask}"`,
    /** A command that tells the directory of a transfer. */
    tellExample: `curl -X POST "${ask}" -H "Content-Type: application/json" \\
  -d '{"tx_signature": "…"}'`,
  };
}

const fieldNames: Record<string, string> = {
  annual_budget_usd: "annual budget",
  beneficiaries_per_year: "people reached in a year",
  contact_email: "contact e-mail address",
  country_code: "country",
  donation_url: "donation page",
  founded_year: "founding year",
  ghd_aligned: "global health alignment",
  impact_metrics: "impact",
  logo_url: "logo",
  programs: "programmes",
  team_size: "team size",
  usdc_wallet: "USDC wallet",
};

/** A field's name for people. */
export const fieldName = (field: string): string => fieldNames[field] ?? field;

const sourceNames: Record<string, string> = {
  consensus: "Agreement of agents",
  operator: "The operator of this directory",
  organisation: "The organisation itself",
  "register:irs-bmf": "US Internal Revenue Service, Business Master File",
  "register:irs-990": "US Internal Revenue Service, Form 990",
  "register:irs-1023ez": "US Internal Revenue Service, Form 1023-EZ",
  "register:ukcat": "Charity registers of the United Kingdom",
  "register:acnc": "Australian Charities and Not-for-profits Commission",
  "register:sample": "Invented sample data",
  "register:ndjson": "Another copy of this directory",
};

/** Groups the provenance of a profile by origin, in the order of the fields. */
export function originsOf(provenance: Record<string, FieldProvenance>) {
  const origins = new Map<string, ReturnType<typeof originOf>>();
  for (const field in provenance) {
    const from = provenance[field];
    if (from === undefined) continue;
    const { source, source_url, rule = "", agents, corroborations = 0, applied_at } = from;
    const key = `${source} ${source_url} ${rule} ${agents.length === 0 ? "" : agents.join(" ")} ${corroborations} ${applied_at}`;
    const same = origins.get(key);
    if (same !== undefined) same.fields += `, ${fieldName(field)}`;
    else origins.set(key, originOf(fieldName(field), from));
  }
  return [...origins.values()];
}

/** Where some of the values of a profile came from; values of one origin share a line. */
function originOf(fields: string, from: FieldProvenance) {
  const { source, source_url, rule, agents, corroborations = 0, applied_at } = from;
  const href = safeLink(source_url);
  const name = rule === undefined ? (sourceNames[source] ?? source) : derivedFrom(source, rule);
  const named = source === "consensus" ? ": " : "; also from agents: ";
  const names = agents.length === 0 ? "" : `${named}${agents.map(quoted).join(", ")}`;
  const others = corroborations === 0 ? "" : `; found by ${corroborations} more`;
  return {
    fields,
    source: `${name}${names}${others}`,
    link: href === null ? null : { href, host: linkHost(href) },
    day: applied_at.slice(0, 10),
  };
}

/** "Derived by this directory: IRS NTEE code K31 → Food banks (IRS Business Master File)". */
function derivedFrom(source: string, rule: string): string {
  const register = source.slice(source.indexOf(":") + 1);
  return `Derived by this directory: ${rule} (${registerById(register)?.name ?? register})`;
}

/** What pages depend on beside the store and the code. */
export type BuildInputs = {
  /** Origin in absolute URLs, without a trailing slash. */
  readonly baseUrl: string;
  /** Pages that show a wallet say plainly when no real money moves there. */
  readonly network: DonationNetwork;
};
