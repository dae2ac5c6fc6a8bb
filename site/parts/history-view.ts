import type { FoundHistory, History } from "#content/contract/enrichment-answers.ts";
import { dateInWords } from "#content/nonprofit/register-facts.ts";
import { linkHost, safeLink } from "#content/nonprofit/website.ts";
import { fieldName, sourceName } from "./profile-facts.ts";
import { counted, grouped, metaText, quoted } from "./words.ts";

/** The history of a profile as its page shows it. */
export type HistoryView = ReturnType<typeof historyView>;

type Change = History["changes"][number];

/** All that the page of a history says: the page only draws. */
export function historyView({ name, history, contested, gifts }: FoundHistory) {
  const { slug } = history;
  const newest = history.changes.at(0);
  return {
    path: `/history/${slug}`,
    json: `/api/history/${slug}`,
    profile: `/nonprofits/${slug}`,
    title: `${metaText(`History of ${name}`, 90)} · Almoner`,
    description: metaText(`What changed in the profile of ${name}, when, and who said so.`, 200),
    name,
    intro:
      newest === undefined
        ? "Nothing has changed since this directory keeps a history."
        : `${counted(history.count, "change", "changes")}, the newest of ${dayOf(newest.changed_at)}.`,
    contested: contested.map(({ field, values }) => ({
      field: heading(field),
      sides: values.map(({ value, agents }) => ({
        value: shownValue(field, value),
        who: agents.length === 0 ? "on the profile" : `says ${agents.map(quoted).join(", ")}`,
      })),
    })),
    changes: history.changes.map(changeOf),
    gifts:
      gifts === null
        ? null
        : {
            intro: `${gifts.total_donated_usdc} USDC in ${counted(gifts.donation_count, "gift", "gifts")}.`,
            rows: gifts.recent_donations.map(({ amount_usdc, settled_at, explorer_url }) => ({
              day: dayOf(settled_at),
              at: settled_at,
              amount: `${amount_usdc} USDC`,
              href: safeLink(explorer_url),
            })),
          },
  };
}

const dayOf = (instant: string): string => dateInWords(instant.slice(0, 10));

const heading = (field: string): string => {
  const words = fieldName(field);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const numbers: ReadonlySet<string> = new Set(["beneficiaries_per_year", "annual_budget_usd"]);
const shownValue = (field: string, value: string): string =>
  numbers.has(field) ? grouped(Number(value)) : value;

const kinds: Record<Change["kind"], string> = {
  added: "Added to the directory",
  changed: "Changed",
  withdrawn: "Withdrawn",
  restored: "Listed again",
};

/** Changes with every other one, and says nothing by itself. */
const silent: ReadonlySet<string> = new Set(["provenance"]);

function changeOf({ kind, fields, by, origin, changed_at, values = [], agreed = [] }: Change) {
  const shown = new Set([...values, ...agreed].map(({ field }) => field));
  const others = fields.filter((field) => !shown.has(field) && !silent.has(field));
  return {
    at: changed_at,
    day: dayOf(changed_at),
    title: kinds[kind],
    who: whoOf(by, origin),
    values: values.map(({ field, old, new: next }) => ({
      field: heading(field),
      old: old === null ? null : shownValue(field, old),
      new: next === null ? null : shownValue(field, next),
    })),
    /** What agents sent that went live then, each with where it was found. */
    agreed: agreed.map(({ field, value, agent_name, source_url, edited }) => {
      const href = safeLink(source_url);
      const isAbove = values.some((one) => one.field === field && one.new === value);
      const what = isAbove ? `the ${fieldName(field)}` : `${fieldName(field)}: ${value}`;
      return {
        text: `${quoted(agent_name)} sent ${what}${edited ? " (edited by an operator)" : ""}`,
        link: href === null ? null : { href, host: linkHost(href) },
      };
    }),
    others: kind === "added" ? "" : others.map((field) => fieldName(field)).join(", "),
  };
}

const deciders: Record<Change["by"], string> = {
  agents: "Agreement of agents",
  operator: "An operator of this directory",
  organisation: "The organisation itself",
  register: "A public register",
  directory: "This directory",
};

const whoOf = (by: Change["by"], origin: string): string =>
  by === "register" ? sourceName(origin.replace(/^import:/, "register:")) : deciders[by];
