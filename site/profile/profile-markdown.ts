import { safeLink } from "#content/nonprofit/safe-link.ts";
import type {
  NonprofitDetail,
  RegisterFact,
  RegisterFacts,
  GiverAnswer,
} from "#content/contract/nonprofit.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { networks } from "#content/giving/network.ts";
import { english } from "#content/language/texts.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { factLine, stateInWords } from "#content/nonprofit/register-facts.ts";
import { unvouchedAddress } from "#content/nonprofit/ways-to-give.ts";
import { moneyView } from "./profile-money.ts";
import { beginsWithMission, factsBeside, type FieldsOrigin } from "./profile-facts.ts";
import type { ProfileView } from "./profile-view.ts";
import { enclosed, markdownLine, markdownParagraphs } from "#site/parts/markdown.ts";
import { joined } from "#site/parts/words.ts";

/**
 * A profile as markdown for models: the facts of its page and JSON and, with a wallet, whether its money is real. All text
 * of third parties is escaped. `view` is its page in English, `detail` the public form of the record.
 */
export function markdownOf(
  record: NonprofitRecord,
  detail: NonprofitDetail,
  view: ProfileView,
  { baseUrl, network }: { baseUrl: string; network: DonationNetwork },
): string {
  const { slug, tagline, mission, description } = detail;
  const { name: chain, notice } = networks[network].words;
  const isPayable = view.facts.some(({ field }) => field === "usdc_wallet");
  const missing = view.withdrawn ? [] : thinFields(record);
  const ownMission = beginsWithMission(detail) ? null : mission;
  return enclosed(
    [
      `# ${markdownLine(detail.name)}`,
      tagline === null ? "" : `> ${markdownLine(tagline)}`,
      list("", linesOf(record, detail, view, chain)),
      ownMission === null ? "" : `## Mission\n\n${markdownParagraphs(ownMission)}`,
      description === null ? "" : `## About\n\n${markdownParagraphs(description)}`,
      list("Programmes", view.programs.map(entry)),
      list(
        "Impact",
        view.metrics.map(({ name, value, note }) => entry({ name, text: value, note })),
      ),
      list("What givers ask", giverLines(detail.giver_answers)),
      list("Money", moneyOf(record, detail)),
      ...detail.register_facts.map((register) => registerOf(register, detail)),
      list(
        "Sources",
        view.origins.map((origin) => sourceOf(origin, detail)),
      ),
    ],
    [
      isPayable && notice !== null ? `**Test network.** ${notice}` : "",
      missing.length === 0
        ? ""
        : `Missing: ${missing.join(", ")}. Found one? POST it to ${baseUrl}/api/enrich/${slug} (${baseUrl}/agents.md).`,
      isPayable ? `How to pay the wallet: ${baseUrl}/api/donate/${slug}?amount=5` : "",
      `JSON: ${baseUrl}/api/nonprofits/${slug} · Changed: ${detail.updated_at}`,
    ],
  );
}

const list = (title: string, items: readonly string[]): string =>
  items.length === 0
    ? ""
    : `${title === "" ? "" : `## ${title}\n\n`}${items.map((item) => `- ${item}`).join("\n")}`;

const statuses: Record<NonprofitDetail["status"], string> = {
  listed: "directory listing, not claimed",
  claimed: "claimed by the organisation",
  withdrawn: "withdrawn",
};

function linesOf(
  record: NonprofitRecord,
  detail: NonprofitDetail,
  { facts, registrations, standing, whyWithdrawn }: ProfileView,
  chain: string,
): string[] {
  const { status, merged_into, causes, wallet_proof } = detail;
  const why = status === "withdrawn" ? ` (${whyWithdrawn.replace(/,$/, "")})` : "";
  const unvouched = unvouchedAddress(record);
  const ofWallet = ` on ${chain}${wallet_proof === undefined ? "" : ", control proved"}`;
  return [
    `Status: ${statuses[status]}${why}`,
    ...(merged_into === undefined ? [] : [`In its place: /nonprofits/${merged_into}.md`]),
    ...(standing.word === undefined ? [] : [`Registered charity: ${standing.word}`]),
    ...(causes.length === 0 ? [] : [`Causes: ${causes.map(({ name }) => name).join(", ")}`]),
    ...facts.map(({ field, label, text, href }) => {
      const value = href === null ? markdownLine(text) : `<${href}>`;
      const doubt = field === "donation_url" && field === unvouched ? " (unconfirmed)" : "";
      return `${label}${doubt}: ${value}${field === "usdc_wallet" ? ofWallet : ""}`;
    }),
    ...detail.ways_to_give.flatMap(({ kind, label, url }) =>
      kind === "service" ? `${markdownLine(label)}: <${url}>` : [],
    ),
    ...registrations.map(({ type, number, country, orgId, linked }) => {
      const note = joined([country, orgId, linked], ", ");
      return `Registered: ${markdownLine(`${type} ${number} (${note})`)}`;
    }),
  ];
}

/** "**Night classes**: Five evenings a week (Kisumu · 300 people a year)". */
function entry({ name, text, note }: Record<"name" | "text", string | null> & { note: string }) {
  const bold = name === null ? null : `**${markdownLine(name)}**`;
  const what = joined([bold, text === null ? null : markdownLine(text)], ": ");
  return `${what}${note === "" ? "" : ` (${markdownLine(note)})`}`;
}

/** "year to June 2023, Income US$ 3,217,077,611 (Form 990: <https://…>)"; empty when a register's section states it all. */
function moneyOf(record: NonprofitRecord, detail: NonprofitDetail): string[] {
  const view = moneyView(record, detail);
  if (view === null || view.isStated) return [];
  const rows = view.rows.map(({ time, form, href, amounts }) => {
    const figures = amounts.map((amount, at) => amount && `${view.columns[at]} ${amount}`);
    return `${markdownLine(joined([time, ...figures], ", "))} (${markdownLine(form)}${href === null ? "" : `: <${href}>`})`;
  });
  return [...rows, ...view.said.slice(1), view.unsaid];
}

function registerOf(register: RegisterFacts, detail: NonprofitDetail): string {
  const href = safeLink(register.record_url);
  const facts = factsBeside(register, detail);
  const heading = `## ${register.register_name}\n\n${stateInWords(register)}${href === null ? "" : `: <${href}>`}`;
  const { attribution, licence } = register;
  const terms = attribution.includes(licence.name) ? [] : [licence.name];
  return `${heading}\n\n${list("", [...facts.map(lineOf), `Licence: ${[attribution, ...terms].join("; ")}`])}`;
}

/** Answers to questions of donors that no register's facts below contain. */
const giverLines = (answers: readonly GiverAnswer[]): string[] =>
  answers.flatMap(({ question, value, register }) =>
    register === null || value === "no" || !questionsBeside.has(question)
      ? []
      : markdownLine(
          `${english.text(`giver.${question}`)}: ${value} (why: giver_answers in the JSON)`,
        ),
  );
const questionsBeside: ReadonlySet<string> = new Set([
  "daf",
  "revoked",
  "reinstated",
  "merged_into",
]);

/** Our own text for amounts needs no escaping, and is not rounded for models. */
const lineOf = (fact: RegisterFact): string =>
  fact.currency === undefined ? markdownLine(factLine(fact)) : factLine(fact);

/** When all registers share one link, it is shown in their sections and not repeated here. */
function sourceOf(
  { fields, source, link, day }: FieldsOrigin,
  { register_facts }: NonprofitDetail,
): string {
  const links = new Set(register_facts.map(({ record_url }) => record_url));
  const isAbove = link !== null && links.size === 1 && links.has(link.href);
  const where = link === null ? "" : isAbove ? " (link above)" : ` <${link.href}>`;
  return `${markdownLine(source)}${where}, ${day}: ${fields}`;
}
