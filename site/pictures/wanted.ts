import causes from "#content/editorial/causes.json";
import { countryName } from "#content/nonprofit/country.ts";
import { causeName } from "#content/nonprofit/facets.ts";
import { claimedAfter, countryList } from "#content/nonprofit/list-store.ts";
import { holdsSample } from "#content/operation/directory-facts-store.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Blobs } from "#site/bundle/blobs.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { storeFiles } from "#site/bundle/release.ts";
import { causePicture, countryPicture, homePicture, ownPicture } from "#site/parts/page-picture.ts";
import { joined } from "#site/parts/words.ts";
import { canDraw, drawPicture, type Pictured } from "./picture.ts";

/** A picture that the bundle shall hold, and the id of the nonprofit whose page names it then. */
export type WantedPicture = { path: string; shown: Pictured; profile: number | null };

/** Pictures to be drawn: about 3 s of a processor for a hundred. */
export type PictureTask = readonly Pick<WantedPicture, "path" | "shown">[];

/** Draws pictures into blobs, where they wait for a release. */
export async function drawPictures(
  { blobs }: { blobs: Blobs },
  task: PictureTask,
): Promise<NewFile[]> {
  const drawn = task.map(({ path, shown }) => ({ path, body: drawPicture(shown) }));
  return storeFiles({ blobs }, drawn).files;
}

/** The pictures of all pages: first those that stand in for others. */
export async function* wantedPictures(store: Queryable): AsyncGenerator<WantedPicture> {
  const isSample = await holdsSample(store);
  const page = { line: "", country: null, verified: false, isSample };
  yield {
    path: homePicture,
    shown: {
      ...page,
      kicker: "For people and for software agents",
      title: "Find a nonprofit, check it, give to it.",
      line: "Every value says where it came from, and gifts go straight to the organisation.",
    },
    profile: null,
  };
  for (const { id, name, description } of causes) {
    const shown = { ...page, kicker: "Cause", title: name, line: description };
    yield { path: causePicture(id), shown, profile: null };
  }
  for (const { code, name } of await countryList(store)) {
    const line = "Its nonprofits, by cause and by place";
    const shown = { ...page, kicker: "Country", title: name, line, country: code };
    yield { path: countryPicture(code), shown, profile: null };
  }
  for (let after = 0; ;) {
    const some = await claimedAfter(store, after, claimedAtOnce);
    for (const record of some) {
      const { id, name, city, region, country_code: country, cause } = record;
      const path = ownPicture(record);
      if (path === null || !canDraw(name)) continue;
      const line = joined([city, region, countryName(country)], ", ");
      const kicker = cause === null ? "" : causeName(cause);
      const shown = { kicker, title: name, line, country, verified: true, isSample };
      yield { path, shown, profile: id };
    }
    if (some.length < claimedAtOnce) return;
    after = some.at(-1)?.id ?? 0;
  }
}
const claimedAtOnce = 500;
