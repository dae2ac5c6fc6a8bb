import { safeLink } from "#content/nonprofit/safe-link.ts";
import { comparedMax } from "#content/contract/comparison.ts";
import type { ComparedProfiles } from "#content/find/answer.ts";
import { type Html, markup } from "#content/language/html.ts";
import { english } from "#content/language/texts.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import type { BuildInputs } from "#site/parts/page-head.ts";
import { clipped } from "#site/parts/words.ts";
import { labelOf } from "./profile-facts.ts";
import { linkHtml } from "./profile-html.ts";
import { moneyView } from "./profile-money.ts";
import { profileView } from "./profile-view.ts";

/** Facts with a row of their own. */
const factRows = ["website", "founded_year", "team_size", "beneficiaries_per_year"];
const missionLengthMax = 600;

/** Organisations side by side: facts alone, no score and no winner. */
export function compareView({ slugs, records, not_found }: ComparedProfiles, build: BuildInputs) {
  const { t = english } = build;
  const cells = records.map((record) => cellsOf(record, build));
  const withOrgs = (path: string, more: string[] = []): string =>
    `${path}?orgs=${[...records.map(({ slug }) => slug), ...more].map(encodeURIComponent).join(",")}`;
  return {
    path: records.length === 0 ? "/compare" : withOrgs("/compare"),
    json: records.length === 0 ? undefined : withOrgs("/api/compare"),
    noindex: slugs.length > 0,
    orgs: records.map(({ slug }) => slug).join(", "),
    names: records.map(({ slug, name }) => ({ name, href: `/nonprofits/${slug}` })),
    rows: (cells[0] ?? [])
      .map(({ label }, row) => ({ label, cells: cells.map((cell) => cell[row]?.lines ?? []) }))
      .filter((row) => row.cells.some((lines) => lines.length > 0)),
    notes: [
      ...(slugs.length > comparedMax ? [t.html("compare.left_out", { max: comparedMax })] : []),
      ...not_found.map(({ slug, nearest }) => {
        const links = nearest.map((near) => linkHtml(withOrgs("/compare", [near.slug]), near.name));
        const others = links.map((link, at) => [at > 0 && ", ", link]);
        const missing = t.html("compare.missing", { slug });
        if (links.length === 0) return missing;
        return markup`${missing} ${t.text("compare.nearest")} ${others}`;
      }),
    ],
  };
}

function cellsOf(record: NonprofitRecord, build: BuildInputs) {
  const { t = english } = build;
  const detail = toDetail(record, build.baseUrl, build.givingLinks);
  const view = profileView(record, detail, build);
  const line = (text: string | null, href: string | null = null): Html[] =>
    text ? [markup`<p dir="auto">${href === null ? text : linkHtml(href, text)}</p>`] : [];
  const registers = detail.register_facts.flatMap(({ register_name, state, as_of, record_url }) => {
    const date = t.text("organisation.as_of", { date: t.date(as_of) });
    const value = `${t.named("state", state)}, ${date}`;
    return line(t.text("list.named", { name: t.word(register_name), value }), safeLink(record_url));
  });
  const money = moneyView(record, detail, t)?.said ?? [view.size];
  const { page, wallet, services } = view.giving;
  const pageLabel = t.text(page?.kind === "website" ? "give.website" : "give.donation_page");
  const ways = [
    ...(page === null ? [] : line(pageLabel, safeLink(page.href))),
    ...(wallet === null ? [] : line(t.text("donate.kicker"), `/donate/${record.slug}`)),
    ...services.flatMap(({ label, url }) => line(label, safeLink(url))),
  ];
  const origins = view.origins.flatMap(({ fields, source, link, day }) =>
    line(t.text("list.named", { name: fields, value: `${source}, ${t.date(day)}` }), link?.href),
  );
  const rows: [label: string, lines: Html[]][] = [
    [t.text("compare.what"), line(view.sentence)],
    [t.text("compare.place"), line(view.place)],
    [t.text("frame.causes"), view.causes.flatMap(({ name, href }) => line(name, href))],
    [t.text("compare.standing"), line(view.withdrawn ? view.whyWithdrawn : view.standing.text)],
    [t.text("compare.registers"), registers],
    [t.text("compare.money"), money.flatMap((sentence) => line(sentence))],
    [t.text("profile.mission"), line(clipped(detail.mission ?? "", missionLengthMax))],
    ...factRows.map((field): [string, Html[]] => {
      const fact = view.facts.find((candidate) => candidate.field === field);
      return [labelOf(field, t), fact === undefined ? [] : line(fact.text, fact.href)];
    }),
    [t.text("profile.give"), ways],
    [t.text("compare.verified"), line(t.text(`profile.${view.verified ? "verified" : "listed"}`))],
    [t.text("compare.sources"), origins],
  ];
  return rows.map(([label, lines]) => ({ label, lines }));
}
