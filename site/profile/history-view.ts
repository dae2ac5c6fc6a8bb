import { linkHost, safeLink } from "#content/nonprofit/safe-link.ts";
import type { Filing, FoundHistory, History } from "#content/contract/enrichment-answers.ts";
import { markup } from "#content/language/html.ts";
import type { Texts } from "#content/language/texts.ts";
import { linkHtml } from "./profile-html.ts";
import { fieldName, labelOf, sourceName } from "./profile-facts.ts";
import { metaText } from "#site/parts/page-head.ts";
import { quoted } from "#site/parts/words.ts";

export type HistoryView = ReturnType<typeof historyView>;

type Change = History["changes"][number];

/** The content of the page of a profile's history; the page only draws it. */
export function historyView({ name, history, contested, gifts }: FoundHistory, t: Texts) {
  const { slug } = history;
  const newest = history.changes.at(0);
  const isWhole = history.count === history.changes.length;
  const dayOf = (instant: string): string => t.date(instant.slice(0, 10));
  return {
    path: `/history/${slug}`,
    json: `/api/history/${slug}`,
    profile: `/nonprofits/${slug}`,
    title: t.text("history.title", { name: metaText(name, 80) }),
    description: metaText(t.text("history.description", { name }), 200),
    name,
    intro:
      newest === undefined
        ? t.text("history.none")
        : t.text(isWhole ? "history.count" : "history.count_newest", {
            count: history.count,
            shown: history.changes.length,
            date: dayOf(newest.changed_at),
          }),
    contested: contested.map(({ field, values }) => ({
      field: labelOf(field, t),
      sides: values.map(({ value, agents }) => ({
        value: valueInWords(field, value, t),
        who:
          agents.length === 0
            ? t.text("history.on_profile")
            : t.text("history.says", { agents: agents.map(quoted).join(", ") }),
      })),
    })),
    changes: history.changes.map((change) => changeOf(change, t)),
    gifts:
      gifts === null
        ? null
        : {
            intro: t.text("history.gifts_total", {
              amount: gifts.total_donated_usdc,
              count: gifts.donation_count,
            }),
            rows: gifts.recent_donations.map(({ id, amount_usdc, settled_at }) => ({
              day: dayOf(settled_at),
              at: settled_at,
              amount: `${amount_usdc} USDC`,
              receipt: `/receipt?${new URLSearchParams({ nonprofit: slug, id })}`,
            })),
          },
  };
}

const numbers: ReadonlySet<string> = new Set(["beneficiaries_per_year", "annual_budget_usd"]);
const valueInWords = (field: string, value: string, t: Texts): string =>
  numbers.has(field) ? t.number(Number(value)) : value;

/** Fields that are not named: provenance changes with every other field. */
const silent: ReadonlySet<string> = new Set(["provenance"]);
/** Fields that the heading of a claim implies. */
const ofClaim = silent.union(new Set(["verified", "status"]));

/** " (Form 990, year to December 2021)" behind a value that the organisation filed. */
const filedWords = (filed: Filing | undefined, t: Texts): string =>
  filed === undefined
    ? ""
    : ` (${t.word(t.named("form", filed.form))}, ${t.text("money.year", { date: t.date(filed.period_end.slice(0, 7)) })})`;

function changeOf(
  { sequence, kind, fields, by, origin, changed_at, reason, values = [], agreed = [] }: Change,
  t: Texts,
) {
  const listed = new Set([...values, ...agreed].map(({ field }) => field));
  const isClaim = by === "organisation" && kind === "changed" && fields.includes("verified");
  const unsaid = isClaim ? ofClaim : silent;
  const others = fields.filter((field) => !listed.has(field) && !unsaid.has(field));
  return {
    sequence,
    at: changed_at,
    day: t.date(changed_at.slice(0, 10)),
    title: t.text(isClaim ? "profile.verified" : `history.${kind}`),
    who: whoOf(by, origin, t),
    why: reason === undefined ? null : t.text("history.because", { reason: quoted(reason) }),
    values: values.map(({ field, old, new: next, filed }) => ({
      field: labelOf(field, t),
      old: old === null ? null : valueInWords(field, old, t) + filedWords(filed, t),
      new: next === null ? null : valueInWords(field, next, t),
    })),
    /** Values from agents that went live with this change, each with where the agent found it. */
    agreed: agreed.map(({ field, value, agent_name, source_url, edited }) => {
      const href = safeLink(source_url);
      const isAbove = values.some((stated) => stated.field === field && stated.new === value);
      const words = { agent: quoted(agent_name), field: fieldName(field, t) };
      const sentText = isAbove
        ? t.text("history.sent_above", words)
        : t.text("history.sent", { ...words, value });
      return {
        text: edited ? t.text("history.edited", { sent: sentText }) : sentText,
        /** Where it was found; null when unknown. */
        origin:
          href === null
            ? null
            : markup`, ${t.html("history.found_at", { link: linkHtml(href, linkHost(href)) })}`,
      };
    }),
    others: othersOf(
      kind === "added" ? [] : others.map((field) => fieldName(field, t)),
      values.length > 0,
      t,
    ),
  };
}

/** The other changed fields in a sentence; "" for none. */
function othersOf(names: readonly string[], beside: boolean, t: Texts): string {
  if (names.length === 0) return "";
  return t.text(beside ? "history.also" : "history.others", { fields: names.join(", ") });
}

/** The id of an origin's register; profiles of a sample directory are invented, so theirs is `register:sample`. */
const registerOf = (origin: string): string =>
  origin === "seed" ? "register:sample" : origin.replace(/^import:/, "register:");

const whoOf = (by: Change["by"], origin: string, t: Texts): string =>
  by === "register" || origin === "seed"
    ? sourceName(registerOf(origin), t)
    : t.text(`decider.${by}`);
