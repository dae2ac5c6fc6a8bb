import causes from "#content/editorial/causes.json";
import { pictureOf } from "#site/parts/page-head.ts";
import { drawPicture } from "#site/pictures/picture.ts";
import { oneByOne, type Source } from "./document.ts";

const ofSite = {
  kicker: "For people and for software agents",
  title: "Find a nonprofit, check it, give to it.",
  line: "Every value says where it came from, and gifts go straight to the organisation.",
};

/** The pictures that other sites show of a page: one of the site and one of each cause. No change makes them stale. */
export const picture = oneByOne<Pick<Source, "isSample">>(
  "picture",
  () => [["picture", ...causes.map(({ id }) => `picture ${id}`)]],
  async ({ isSample = false }, id) => {
    const cause = causes.find((one) => one.id === id);
    const words =
      cause === undefined
        ? ofSite
        : { kicker: "Cause", title: cause.name, line: cause.description };
    return { path: pictureOf(id), body: drawPicture({ ...words, isSample }) };
  },
);
