import { answerBytes } from "#content/nonprofit/wire.ts";
import { changedIdsAfter, historiesOf, isChanged } from "#content/nonprofit/changes-store.ts";
import { type DocumentKind, partsOf } from "./document.ts";
import { keyOf } from "./keys.ts";

const batchSize = 1_000;

/**
 * What was changed in a profile, by whom and when, as GET /api/nonprofits/{slug}/history. A profile that is as it was
 * added has no such file: the service says so. It follows a change in the second lane. See docs/decisions/0067.
 */
export const profileHistory: DocumentKind = {
  kind: "profile-history",
  async *all({ store }) {
    for (let ids = await changedIdsAfter(store, 0, batchSize); ids.length > 0;) {
      yield ids.map(keyOf.profileHistory);
      ids = await changedIdsAfter(store, ids.at(-1) ?? 0, batchSize);
    }
  },
  render: async (keys, { store }) => {
    const ids = keys.map((key) => Number(partsOf(key)[1]));
    const histories = await historiesOf(store, ids);
    return [...histories].map(([id, history]) => {
      const path = `api/nonprofits/${history.slug}/history.json`;
      const body = isChanged(history) ? answerBytes(history) : null;
      return { key: keyOf.profileHistory(id), files: [{ path, body }] };
    });
  },
};
