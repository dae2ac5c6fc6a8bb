import { type Change, isOfDonations } from "#content/nonprofit/changes-store.ts";
import { summaryColumns } from "#content/nonprofit/wire.ts";
import type { DocumentKey, DocumentKind, KnownPlaces } from "./document.ts";

/** What a change makes stale of all kinds, for the release that makes the changed profile live. */
export const staleAtOnce = (
  kinds: readonly DocumentKind[],
  change: Change,
  context: KnownPlaces,
): DocumentKey[] => kinds.flatMap((kind) => kind.staleAtOnce?.(change, context) ?? []);

/** The same for the list job. `lists` are those in which something moved: all of their pages have to be looked at again. */
export const staleLater = (
  kinds: readonly DocumentKind[],
  change: Change,
  places: KnownPlaces["places"],
): { keys: DocumentKey[]; lists: string[] } => ({
  keys: kinds.flatMap((kind) => kind.staleLater?.(change, { places, needs: null }) ?? []),
  lists: movedLists(change),
});

/** Of a change of a profile, the id of the nonprofit; null for one of donations, or of the directory. */
export const profileIn = (change: Change): number | null =>
  isOfDonations(change) ? null : change.nonprofit_id;

/** Fields that an item of a list shows: only these make a list page stale when nothing moved. */
export const listedFields: ReadonlySet<string> = new Set([
  ...summaryColumns,
  "causes",
  "register_records",
]);

/** The published list of profiles that want help. */
export const needsPath = "api/needs-enrichment.json";
/** Fields that help-wanted shows or sorts by, beside the moves in its list. */
export const needsFields: ReadonlySet<string> = new Set([
  ...listedFields,
  "description",
  "contact_email",
]);

export const touches = (change: Change, fields: ReadonlySet<string>): boolean =>
  profileIn(change) !== null && change.fields.some((field) => fields.has(field));

/** The lists in which a nonprofit moved; the list of those that want help is no page. */
const movedLists = (change: Change): string[] =>
  profileIn(change) === null ? [] : change.moved_lists.filter((list) => list !== "thin");

const countedFields: ReadonlySet<string> = new Set(["verified", "beneficiaries_per_year"]);

/** Whether lists have other members, or another order. */
export const movesLists = (change: Change): boolean =>
  movedLists(change).length > 0 || touches(change, countedFields);

/** Whether numbers of the whole directory, or its day, are others. */
export const changesNumbers = (change: Change): boolean =>
  change.nonprofit_id === null || movesLists(change);

const recommendedFields: ReadonlySet<string> = new Set([
  ...["slug", "name", "city", "country_code", "status"],
]);

/** Whether a page that shows recommended nonprofits may show this one otherwise. */
export const changesRecommended = (change: Change): boolean => touches(change, recommendedFields);

/** Whether a nonprofit may stand otherwise among those that want help. */
export const changesNeeds = (change: Change): boolean =>
  touches(change, needsFields) ||
  (profileIn(change) !== null && change.moved_lists.includes("thin"));
