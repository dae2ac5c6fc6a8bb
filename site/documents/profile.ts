import { changedIdsAfter, historiesOf, isChanged } from "#content/nonprofit/changes-store.ts";
import { nonprofitIdsAfter } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { type ProfileView, donateView, profileView } from "#site/parts/profile-view.ts";
import {
  type BundleFile,
  type DocumentKind,
  partsOf,
  type Rendered,
  type Source,
} from "./document.ts";
import { keyOf } from "./keys.ts";

const batchSize = 1_000;

/**
 * The profile of one nonprofit, as a page and as JSON, and the page by which it is paid. A withdrawn one keeps its
 * profile.
 */
export const profile: DocumentKind = {
  kind: "profile",
  async *all({ store }) {
    for (let ids = await nonprofitIdsAfter(store, 0, batchSize); ids.length > 0;) {
      yield ids.map(keyOf.profile);
      ids = await nonprofitIdsAfter(store, ids.at(-1) ?? 0, batchSize);
    }
  },
  async render(keys, source) {
    const ids = keys.map((key) => Number(partsOf(key)[1]));
    const records = await recordsById(source.store, ids);
    const rendered: Rendered[] = [];
    for (const record of records) rendered.push(await renderProfile(record, source));
    return rendered;
  },
};

async function renderProfile(record: NonprofitRecord, source: Source): Promise<Rendered> {
  const { renderer, baseUrl } = source;
  const detail = toDetail(record);
  const view = profileView(record, detail, source);
  return {
    key: keyOf.profile(record.id),
    files: [
      {
        path: `nonprofits/${record.slug}.html`,
        body: await renderer.render("/nonprofits/[slug]", { baseUrl, view }),
      },
      {
        path: `api/nonprofits/${record.slug}.json`,
        body: await renderer.render("/api/nonprofits/[slug].json", { answer: detail }),
      },
      await donatePage(view, source),
    ],
  };
}

/** None without a wallet: /donate/{slug} then leads to the profile. See docs/decisions/0052. */
async function donatePage(shown: ProfileView, { renderer, baseUrl }: Source): Promise<BundleFile> {
  const view = donateView(shown);
  const path = `donate/${shown.slug}.html`;
  if (view === null) return { path, body: null };
  return { path, body: await renderer.render("/donate/[slug]", { baseUrl, view }) };
}

/**
 * What was changed in a profile, by whom and when, as GET /api/nonprofits/{slug}/history. A profile that is as it was
 * added has no such file: the service says so. It follows a change in the list job. See docs/decisions/0067.
 */
export const profileHistory: DocumentKind = {
  kind: "profile-history",
  async *all({ store }) {
    for (let ids = await changedIdsAfter(store, 0, batchSize); ids.length > 0;) {
      yield ids.map(keyOf.profileHistory);
      ids = await changedIdsAfter(store, ids.at(-1) ?? 0, batchSize);
    }
  },
  render: async (keys, { store, renderer }) => {
    const ids = keys.map((key) => Number(partsOf(key)[1]));
    const histories = await historiesOf(store, ids);
    return Promise.all(
      [...histories].map(async ([id, history]) => {
        const path = `api/nonprofits/${history.slug}/history.json`;
        const body = isChanged(history)
          ? await renderer.render("/api/nonprofits/[slug]/history.json", { answer: history })
          : null;
        return { key: keyOf.profileHistory(id), files: [{ path, body }] };
      }),
    );
  },
};

/** The profile of one nonprofit as markdown, for models. It follows a change in the list job. */
export const profileMarkdown: DocumentKind = {
  kind: "profile-markdown",
  async *all(source) {
    for await (const keys of profile.all(source)) {
      yield keys.map((key) => keyOf.profileMarkdown(Number(partsOf(key)[1])));
    }
  },
  render: async (keys, { store, baseUrl, renderer }) => {
    const records = await recordsById(
      store,
      keys.map((key) => Number(partsOf(key)[1])),
    );
    return Promise.all(
      records.map(async (record) => {
        const path = `nonprofits/${record.slug}.md`;
        const body = await renderer.render("/nonprofits/[slug].md", { baseUrl, record });
        return { key: keyOf.profileMarkdown(record.id), files: [{ path, body }] };
      }),
    );
  },
};
