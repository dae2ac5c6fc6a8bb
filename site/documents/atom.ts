import { markup, rendered } from "#content/language/html.ts";
import { Feed } from "feed";
import { causeIds, causeName } from "#content/contract/browse.ts";
import type { FoundHistory } from "#content/contract/enrichment-answers.ts";
import { english as t } from "#content/language/texts.ts";
import { historiesOf, newestChangesIn } from "#content/nonprofit/changes-store.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { listCounts } from "#content/nonprofit/list-store.ts";
import { listParts, pageAddress } from "#site/parts/address.ts";
import { type HistoryView, historyView } from "#site/profile/history-view.ts";
import {
  type DocumentKey,
  type DocumentKind,
  oneByOne,
  type Source,
  profileIn,
} from "./document.ts";

/** The most entries of a feed; the numbered files of the change feed have all changes. */
const entriesMax = 50;

const keyOf = (list: string): DocumentKey => `atom ${list}`;
const keysOf = (lists: Iterable<string>): DocumentKey[] =>
  [...new Set(lists)].filter((list) => list !== "thin").map(keyOf);

/**
 * New public changes in the directory, a cause or a country, for feed readers. /causes/{id}.atom and /countries/{code}.atom
 * cover the nonprofits that are in the list now; /feed.atom covers withdrawn ones too.
 */
export const atom: DocumentKind = {
  ...oneByOne(
    "atom",
    async function* ({ store }) {
      const causes = causeIds.map((id) => `cause:${id}`);
      yield keysOf(["all", ...causes, ...(await listCounts(store)).keys()]);
    },
    async ({ store, baseUrl }: Source, list = "all") => {
      const page = list === "all" ? "" : pageAddress(list, 1);
      const path = `${page || "feed"}.atom`;
      const newest = await newestChangesIn(store, list, entriesMax);
      if (newest.length === 0 && list.startsWith("country:")) return { path, body: null };
      const histories = await historiesOf(store, [...new Set(newest.map(({ id }) => id))]);
      const views = newest.flatMap(({ id, name, sequence }) => {
        const history = histories.get(id);
        const changes = history?.changes.filter((change) => change.sequence === sequence) ?? [];
        if (history === undefined) return [];
        const part = { ...history, changes };
        return historyView({ name, history: part, contested: [], gifts: null }, t);
      });
      const { kind, value } = listParts(list);
      const name = kind === "cause" ? causeName(value) : countryName(value);
      const title =
        list === "all" ? t.text("feed.all") : t.text("feed.list", { name: name ?? value });
      return { path, body: atomXml(baseUrl, { path: `/${path}`, page: `/${page}`, title }, views) };
    },
  ),
  staleLater: (change, { places }) =>
    profileIn(change) === null ? [] : keysOf(["all", ...places.keys(), ...change.moved_lists]),
};

/** The feed of one profile: its newest changes, including a withdrawal. */
export function profileFeed(baseUrl: string, history: FoundHistory): string {
  const view = historyView(history, t);
  const of = { path: `${view.profile}.atom`, page: view.profile, title: view.title };
  return atomXml(baseUrl, of, [{ ...view, changes: view.changes.slice(0, entriesMax) }]);
}

/**
 * An Atom feed (RFC 4287) of these histories, newest first. Ids are tag URIs (RFC 4151) of a change's day and number, so
 * they outlive names. Text is escaped before the library puts it into CDATA sections, which a second "]]>" would end.
 */
function atomXml(
  baseUrl: string,
  { path, page, title }: { path: string; page: string; title: string },
  views: readonly HistoryView[],
): string {
  const tag = `tag:${new URL(baseUrl).hostname}`;
  const feed = new Feed({
    id: `${tag},2026:${path}`,
    title: xmlText(title),
    link: baseUrl + page,
    feedLinks: { atom: baseUrl + path },
    // A feed without entries has no date.
    updated: new Date(views[0]?.changes[0]?.at ?? 0),
    generator: "Almoner",
    author: { name: "Almoner", link: baseUrl },
  });
  for (const { name, profile, changes } of views) {
    for (const { sequence, at, who, why, values, agreed, others, ...change } of changes) {
      const became = values.map(({ field, old, new: next }) => {
        const was = old ?? t.text("history.was_empty");
        return `${field}: ${was} → ${next ?? t.text("history.now_empty")}`;
      });
      feed.addItem({
        id: `${tag},${at.slice(0, 10)}:change/${sequence}`,
        title: rendered(xmlText(`${name}: ${change.title}`)),
        link: baseUrl + profile,
        date: new Date(at),
        published: new Date(at),
        description: [who, why, ...became, ...agreed.map(({ text }) => text), others]
          .map((line) => (line ? String(markup`<p>${xmlText(line)}</p>`) : ""))
          .join(""),
      });
    }
  }
  return feed.atom1();
}

/** A text without characters that XML 1.0 forbids: control characters, and halves of surrogate pairs. */
const xmlText = (text: string): string =>
  text.toWellFormed().replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");
