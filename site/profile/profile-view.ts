import { linkHost } from "#content/nonprofit/safe-link.ts";
import { suggestedUsdc } from "#content/contract/base/money.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { networks } from "#content/giving/network.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { type Html, markup } from "#content/language/html.ts";
import { english, type Texts } from "#content/language/texts.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { nonprofitJsonLd } from "./profile-json-ld.ts";
import {
  beginsWithMission,
  factsOf,
  fieldName,
  metricsOf,
  originOf,
  originsOf,
  programsOf,
  registrationsOf,
  sizeOf,
  whyWithdrawn,
} from "./profile-facts.ts";
import { unvouchedAddress } from "#content/nonprofit/ways-to-give.ts";
import {
  otherAnswersHtml,
  factsHtml,
  linkHtml,
  marksHtml,
  originsHtml,
  placeHtml,
  registerHtml,
} from "./profile-html.ts";
import { moneyHtml } from "./profile-money.ts";
import { nearbyOf, sentenceOf, standingLine } from "./profile-sentence.ts";
import { type BuildInputs, metaText, pictureOf } from "#site/parts/page-head.ts";
import { clipped, paragraphs, placesInLine } from "#site/parts/words.ts";

export type ProfileView = ReturnType<typeof profileView>;

/** The content of a nonprofit's page; `detail` is the public form of the record. */
export function profileView(record: NonprofitRecord, detail: NonprofitDetail, build: BuildInputs) {
  const { baseUrl, t = english } = build;
  const { slug, name, tagline } = detail;
  const lead = tagline === null && detail.mission !== null ? clipped(detail.mission, 140) : null;
  const path = `/nonprofits/${slug}`;
  const withdrawn = detail.status === "withdrawn";
  const facts = factsOf(detail, t);
  const origins = originsOf(detail.provenance, t);
  const giving = givingView(record, detail, build);
  const place = placesInLine([detail.city, detail.region, t.country(detail.country)]);
  const missing = withdrawn ? [] : thinFields(record);
  const marks = marksHtml(origins);
  const sentence = sentenceOf(record, detail, t);
  return {
    slug,
    path,
    title: t.text("profile.title", { name: metaText(name, 90) }),
    description: metaText(
      tagline ?? detail.mission ?? (sentence || t.text("profile.description", { name })),
      200,
    ),
    jsonLd: nonprofitJsonLd(detail, facts, {
      profile: baseUrl + path,
      network: networks[build.network].words,
    }),
    picture: pictureOf(record.causes[0]),
    name,
    tagline,
    facts,
    origins,
    /** The beginning of the mission, shown at the top if there is no tagline. */
    lead,
    isWholeMission: lead === detail.mission,
    place,
    sentence,
    standing: standingLine(record, t),
    size: withdrawn ? null : sizeOf(detail, t),
    placeHtml: placeHtml(facts, marks),
    verified: detail.verified === 1,
    withdrawn,
    whyWithdrawn: whyWithdrawn(detail, t),
    movedTo:
      detail.merged_into === undefined
        ? null
        : { slug: detail.merged_into, path: `/nonprofits/${detail.merged_into}` },
    factsHtml: factsHtml(facts, marks),
    texts: textsOf(detail, lead, t).map((text) => ({ ...text, mark: marks.of(text.field) })),
    money: moneyHtml(record, detail, t),
    programs: programsOf(detail, t),
    metrics: metricsOf(detail, t),
    /** No link here if a register's section below has the same one. */
    registrations: registrationsOf(record, detail, t).map(({ href, ...registration }) => ({
      ...registration,
      href: detail.register_facts.some(({ record_url }) => record_url === href) ? null : href,
    })),
    /** Answers to questions of donors that no register's section below contains; null for none. */
    answers: otherAnswersHtml(detail, t),
    registers: detail.register_facts.map((register) => registerHtml(register, detail, t)),
    causes: detail.causes.map((cause) => ({
      href: `/causes/${cause.id}`,
      name: t.word(cause.name),
    })),
    giving,
    /** The source button of a field, for values outside the list of facts. */
    markOf: marks.of,
    // None when withdrawn: its country may no longer have a list.
    nearby: withdrawn ? [] : nearbyOf(record, detail, t),
    /** The empty fields that the directory asks for: "mission, city or region"; "" for none. */
    missing: t.either(missing.map((field) => fieldName(field, t))),
    originsHtml: originsHtml(origins, detail, t),
    changedHtml: t.html("profile.changed", {
      date: markup`<time datetime="${detail.updated_at}">${t.date(detail.updated_at.slice(0, 10))}</time>`,
    }),
  };
}

/** The long texts, each once: no mission that is the lead, or with which the description begins. */
function textsOf(detail: NonprofitDetail, lead: string | null, t: Texts) {
  const { mission, description } = detail;
  const isElsewhere = mission === lead || beginsWithMission(detail);
  return [
    {
      field: "mission",
      title: t.text("profile.mission"),
      paragraphs: isElsewhere ? [] : paragraphs(mission),
    },
    {
      field: "description",
      title: t.text("profile.about"),
      paragraphs: paragraphs(description),
    },
  ].filter((text) => text.paragraphs.length > 0);
}

export type DonateView = NonNullable<ReturnType<typeof donateView>>;

/** The content of the donation page; null for a nonprofit without a wallet, whose profile names other ways to give. */
export function donateView({ name, place, giving, picture }: ProfileView, t: Texts = english) {
  const { wallet, slug } = giving;
  if (wallet === null) return null;
  return {
    path: `/donate/${slug}`,
    title: t.text("donate.title", { name: metaText(name, 80) }),
    description: metaText(t.text("donate.description", { name }), 200),
    place,
    picture,
    giving,
    wallet,
    usdc: usdcAdvice(giving, t),
  };
}

/** Advice for people who have no USDC yet; on test networks, that the money is not real. */
function usdcAdvice({ cluster, page }: GivingView, t: Texts) {
  const [heading, ...lines] = (
    {
      mainnet: [
        "donate.new",
        ...(["donate.new_dollar", "donate.new_wallet", "donate.new_buy"] as const),
        page === null ? "donate.new_small" : "donate.new_page",
      ],
      devnet: ["donate.test", "donate.test_money", "donate.test_devnet", "donate.test_faucet"],
      local: ["donate.test", "donate.test_money", "donate.test_send", "donate.test_local"],
    } as const
  )[cluster];
  return { heading: t.text(heading), lines: lines.map((line) => t.html(line)) };
}

/** How to give to a nonprofit, for its profile and its page /donate/{slug}. */
export type GivingView = ReturnType<typeof givingView>;

/** The ways to give that a page may show, in the order of the JSON. */
function givingView(
  record: NonprofitRecord,
  detail: NonprofitDetail,
  { baseUrl, network, t = english }: BuildInputs,
) {
  const { slug, name, wallet_proof, ways_to_give: ways } = detail;
  const givingPage = ways.find(({ kind }) => kind === "donation_page" || kind === "website");
  const address = ways.some(({ kind }) => kind === "usdc") ? detail.usdc_wallet : undefined;
  const ask = `${baseUrl}/api/donate/${slug}?amount=5`;
  return {
    slug,
    name,
    /** The organisation's own donation page, or else its website. */
    page:
      givingPage === undefined
        ? null
        : { kind: givingPage.kind, href: givingPage.url, host: linkHost(givingPage.url) },
    services: ways.filter(({ kind }) => kind === "service"),
    /** A donation address that no one vouches for, with its source; null for none. */
    unvouchedHtml: unvouchedHtml(record, detail, t),
    /** Null without a wallet: then there is no page /donate/{slug}. */
    wallet: address === undefined ? null : { address, proven: wallet_proof !== undefined },
    network: networks[network].words,
    cluster: networks[network].cluster,
    amounts: suggestedUsdc,
    tax: address === undefined ? [] : taxWords(detail, t),
    /** A command that requests how to pay. */
    askExample: `curl -i "${ask}"`,
    /** A command that reports a transfer to the directory. */
    tellExample: `curl -X POST "${ask}" -H "Content-Type: application/json" \\
  -d '{"tx_signature": "…"}'`,
  };
}

function unvouchedHtml(record: NonprofitRecord, detail: NonprofitDetail, t: Texts): Html | null {
  const field = detail.status === "withdrawn" ? null : unvouchedAddress(record);
  const href = field === null ? null : detail[field];
  if (field === null || href === null) return null;
  const from = detail.provenance[field];
  const origin = from === undefined ? null : originOf(from, t);
  const source =
    origin === null ? t.text("give.no_source") : `${origin.source}, ${t.date(origin.day)}`;
  return t.html("give.unvouched", { link: linkHtml(href, linkHost(href)), source });
}

/** The sentences on tax. Only a register's own words, with its date, call a donation deductible. */
function taxWords({ register_facts, country }: NonprofitDetail, t: Texts): string[] {
  const sentences = register_facts
    .filter(({ state }) => state === "registered" || state === "reinstated")
    .flatMap(({ register_name, as_of, fields }) =>
      fields
        .filter(({ name }) => name === "deductibility")
        .map(({ value }) =>
          t.text("tax.said", {
            register: t.word(register_name),
            date: t.date(as_of),
            value: t.word(String(value)),
          }),
        ),
    );
  const place = t.country(country);
  const unsaid =
    place === null ? t.text("tax.unsaid") : t.text("tax.unsaid_in", { country: place });
  return [t.text("tax.record"), ...(sentences.length > 0 ? sentences : [unsaid])];
}
