import { changedIdsAfter, historiesOf, isChanged } from "#content/nonprofit/changes-store.ts";
import { nonprofitIdsAfter } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { answerBytes, toDetail } from "#content/nonprofit/wire.ts";
import type { Queryable } from "#content/store/open.ts";
import { markdownOf } from "#site/parts/markdown.ts";
import { type ProfileView, donateView, profileView } from "#site/parts/profile-view.ts";
import {
  type BundleFile,
  type DocumentKey,
  type DocumentKind,
  fileOf,
  partsOf,
  type Rendered,
  type Source,
} from "./document.ts";
import { keyOf } from "./keys.ts";

const batchSize = 1_000;

type IdsAfter = (store: Queryable, after: number, limit: number) => Promise<number[]>;

/** The keys of documents that are named by the id of a nonprofit, in batches. */
const keysById = (idsAfter: IdsAfter, keyFor: (id: number) => DocumentKey) =>
  async function* ({ store }: Source): AsyncGenerator<DocumentKey[]> {
    for (let ids = await idsAfter(store, 0, batchSize); ids.length > 0;) {
      yield ids.map(keyFor);
      ids = await idsAfter(store, ids.at(-1) ?? 0, batchSize);
    }
  };

const idsOf = (keys: readonly DocumentKey[]): number[] =>
  keys.map((key) => Number(partsOf(key)[1]));

/**
 * The profile of one nonprofit, as a page and as JSON, and the page by which it is paid. A withdrawn one keeps its
 * profile.
 */
export const profile: DocumentKind = {
  kind: "profile",
  all: keysById(nonprofitIdsAfter, keyOf.profile),
  async render(keys, source) {
    const rendered: Rendered[] = [];
    for (const record of await recordsById(source.store, idsOf(keys))) {
      rendered.push(await renderProfile(record, source));
    }
    return rendered;
  },
};

async function renderProfile(record: NonprofitRecord, source: Source): Promise<Rendered> {
  const { slug } = record;
  const answer = toDetail(record);
  const view = profileView(record, answer, source);
  return {
    key: keyOf.profile(record.id),
    files: [
      await fileOf(source, "/nonprofits/[slug]", { view }, `nonprofits/${slug}.html`),
      await fileOf(
        source,
        "/api/nonprofits/[slug].json",
        answerBytes(answer),
        `api/nonprofits/${slug}.json`,
      ),
      await donatePage(view, source),
    ],
  };
}

/** None without a wallet: /donate/{slug} then leads to the profile. See docs/decisions/0052. */
async function donatePage(shown: ProfileView, source: Source): Promise<BundleFile> {
  const view = donateView(shown);
  const path = `donate/${shown.slug}.html`;
  return view === null ? { path, body: null } : fileOf(source, "/donate/[slug]", { view }, path);
}

/**
 * What was changed in a profile, by whom and when, as GET /api/nonprofits/{slug}/history. A profile that is as it was
 * added has no such file: the service says so. It follows a change in the list job. See docs/decisions/0067.
 */
export const profileHistory: DocumentKind = {
  kind: "profile-history",
  all: keysById(changedIdsAfter, keyOf.profileHistory),
  render: async (keys, source) => {
    const histories = await historiesOf(source.store, idsOf(keys));
    return Promise.all(
      [...histories].map(async ([id, answer]) => {
        const path = `api/nonprofits/${answer.slug}/history.json`;
        const file = isChanged(answer)
          ? await fileOf(source, "/api/nonprofits/[slug]/history.json", answerBytes(answer), path)
          : { path, body: null };
        return { key: keyOf.profileHistory(id), files: [file] };
      }),
    );
  },
};

/** The profile of one nonprofit as markdown, for models. It follows a change in the list job. */
export const profileMarkdown: DocumentKind = {
  kind: "profile-markdown",
  all: keysById(nonprofitIdsAfter, keyOf.profileMarkdown),
  render: async (keys, source) =>
    Promise.all(
      (await recordsById(source.store, idsOf(keys))).map(async (record) => {
        const path = `nonprofits/${record.slug}.md`;
        const text = markdownOf(record, source.baseUrl);
        const file = await fileOf(source, "/nonprofits/[slug].md", text, path);
        return { key: keyOf.profileMarkdown(record.id), files: [file] };
      }),
    ),
};
