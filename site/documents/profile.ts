import { answerBytes, toDetail } from "#content/nonprofit/wire.ts";
import { nonprofitIdsAfter } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { donateView } from "#site/parts/donate-view.ts";
import { type ProfileView, profileView } from "#site/parts/profile-view.ts";
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
      { path: `api/nonprofits/${record.slug}.json`, body: answerBytes(detail) },
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
