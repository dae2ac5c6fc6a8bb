import {
  type Change,
  changedIdsAfter,
  historiesOf,
  isChanged,
  isOfDonations,
} from "#content/nonprofit/changes-store.ts";
import { donationHistory } from "#content/giving/answers.ts";
import { networks } from "#content/giving/network.ts";
import { finalDonations, givenToAfter } from "#content/giving/store.ts";
import { nonprofitIdsAfter, recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import type { Queryable } from "#content/store/open.ts";
import { markdownOf } from "#site/profile/profile-markdown.ts";
import { type ProfileView, donateView, profileView } from "#site/profile/profile-view.ts";
import {
  type BundleFile,
  type DocumentKey,
  type DocumentKind,
  fileOf,
  partsOf,
  type Source,
  type Drawing,
  renderPage,
  profileIn,
} from "./document.ts";

const batchSize = 1_000;

/**
 * A kind with one document per nonprofit. `rowsOf` reads the data of these ids; `changedIn` returns the nonprofit whose
 * document a change makes stale.
 */
const byNonprofit = <Row>(of: {
  kind: string;
  changedIn: (change: Change) => number | null;
  atOnce?: boolean;
  idsAfter: (store: Queryable, after: number, limit: number) => Promise<number[]>;
  rowsOf: (store: Queryable, ids: number[]) => Promise<Iterable<Row>>;
  filesOf: (row: Row, source: Source) => Promise<BundleFile[]>;
}): DocumentKind => ({
  kind: of.kind,
  async *all({ store }) {
    for (let ids = await of.idsAfter(store, 0, batchSize); ids.length > 0;) {
      yield ids.map((id) => keyFor(of.kind, id));
      ids = await of.idsAfter(store, ids.at(-1) ?? 0, batchSize);
    }
  },
  [of.atOnce === true ? "staleAtOnce" : "staleLater"](change: Change) {
    const id = of.changedIn(change);
    return id === null ? [] : [keyFor(of.kind, id)];
  },
  async render(keys, source) {
    const ids = keys.map((key) => Number(partsOf(key)[1]));
    const files: BundleFile[] = [];
    for (const row of await of.rowsOf(source.store, ids)) {
      files.push(...(await of.filesOf(row, source)));
    }
    return files;
  },
});

const keyFor = (kind: string, id: number): DocumentKey => `${kind} ${id}`;
export const profileKey = (id: number): DocumentKey => keyFor("profile", id);

/**
 * The profile of a nonprofit as a page, JSON and markdown, and its donation page: one release changes them all. A withdrawn
 * nonprofit keeps its profile.
 */
export const profile = byNonprofit({
  kind: "profile",
  changedIn: profileIn,
  atOnce: true,
  idsAfter: nonprofitIdsAfter,
  rowsOf: recordsById,
  filesOf: async (record, source) => {
    const { slug } = record;
    const answer = toDetail(record, source.baseUrl, source.givingLinks);
    const view = profileView(record, answer, source);
    const json = `api/nonprofits/${slug}.json`;
    return [
      await fileOf(source, "/nonprofits/[slug]", { view }, `nonprofits/${slug}.html`),
      await fileOf(source, "/api/nonprofits/[slug].json", { answer }, json),
      await donatePage(view, source),
      { path: `nonprofits/${slug}.md`, body: markdownOf(record, answer, view, source) },
    ];
  },
});

const viewIn = (drawing: Drawing, record: NonprofitRecord) =>
  profileView(record, toDetail(record, drawing.baseUrl, drawing.givingLinks), drawing);

/** Renders the page of a profile, in a language that the bundle does not have. */
export const renderProfile = (drawing: Drawing, record: NonprofitRecord) =>
  renderPage(drawing, "/nonprofits/[slug]", { view: viewIn(drawing, record) });

/** Renders the donation page of a nonprofit; its profile if it has no wallet. */
export function renderDonatePage(drawing: Drawing, record: NonprofitRecord) {
  const view = donateView(viewIn(drawing, record), drawing.t);
  return view === null
    ? renderProfile(drawing, record)
    : renderPage(drawing, "/donate/[slug]", { view });
}

/** No file without a wallet: /donate/{slug} then redirects to the profile. See docs/decisions/25. */
async function donatePage(ofProfile: ProfileView, source: Source): Promise<BundleFile> {
  const view = donateView(ofProfile);
  const path = `donate/${ofProfile.slug}.html`;
  return view === null ? { path, body: null } : fileOf(source, "/donate/[slug]", { view }, path);
}

/**
 * The changes of a profile, by whom and when, as GET /api/history/{slug}. A profile unchanged since it was added has no
 * such file: the service says so. The list job renders it. See docs/decisions/03.
 */
export const profileHistory = byNonprofit({
  kind: "profile-history",
  changedIn: profileIn,
  idsAfter: changedIdsAfter,
  rowsOf: async (store, ids) => (await historiesOf(store, ids)).values(),
  filesOf: async (answer, source) => {
    const path = `api/history/${answer.slug}.json`;
    if (!isChanged(answer)) return [{ path, body: null }];
    return [await fileOf(source, "/api/history/[slug].json", { answer }, path)];
  },
});

/**
 * The final donations to a nonprofit, as GET /api/donations/{slug}; the service also has those not final yet. No file
 * without a donation. The list job renders it. See docs/decisions/38.
 */
export const donations = byNonprofit({
  kind: "donations",
  // A new name counts, because the answer contains it.
  changedIn: (change) =>
    isOfDonations(change) || change.fields.includes("name") ? change.nonprofit_id : null,
  idsAfter: givenToAfter,
  rowsOf: finalDonations,
  filesOf: async (row, source) => {
    const place = { cluster: networks[source.network].cluster, baseUrl: source.baseUrl };
    const answer = donationHistory(row, row, place);
    const path = `api/donations/${row.slug}.json`;
    return [await fileOf(source, "/api/donations/[slug].json", { answer }, path)];
  },
});
