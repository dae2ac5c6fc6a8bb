import { type Change, isOfDonations } from "#content/nonprofit/changes-store.ts";
import { summaryColumns } from "#content/nonprofit/wire.ts";
import type { DocumentKey, DocumentKind, KnownPlaces } from "./document.ts";

/** The documents of all kinds that a change makes stale in the release that shows the changed profile. */
export const staleAtOnce = (
  kinds: readonly DocumentKind[],
  change: Change,
  context: KnownPlaces,
): DocumentKey[] => kinds.flatMap((kind) => kind.staleAtOnce?.(change, context) ?? []);

/** As `staleAtOnce`, for the list job. `lists`: lists in which the nonprofit moved, so all of their pages may be stale. */
export const staleLater = (
  kinds: readonly DocumentKind[],
  change: Change,
  places: KnownPlaces["places"],
): { keys: DocumentKey[]; lists: string[] } => ({
  keys: kinds.flatMap((kind) => kind.staleLater?.(change, { places, needs: null }) ?? []),
  lists: movedLists(change),
});

/** The nonprofit's id in a change of a profile; null for a change of donations or of the directory. */
export const profileIn = (change: Change): number | null =>
  isOfDonations(change) ? null : change.nonprofit_id;

/** Fields that an item of a list shows: when nothing moved, only these make a list page stale. */
export const listedFields: ReadonlySet<string> = new Set([
  ...summaryColumns,
  "causes",
  "register_records",
]);

/** The published list of profiles that need help. */
export const needsPath = "api/needs-enrichment.json";
/** Fields that this list shows or sorts by. */
export const needsFields: ReadonlySet<string> = new Set([
  ...listedFields,
  "description",
  "contact_email",
]);

export const touches = (change: Change, fields: ReadonlySet<string>): boolean =>
  profileIn(change) !== null && change.fields.some((field) => fields.has(field));

/** The lists in which a nonprofit moved, without "thin" (nonprofits that need help), which has no pages. */
const movedLists = (change: Change): string[] =>
  profileIn(change) === null ? [] : change.moved_lists.filter((list) => list !== "thin");

const countedFields: ReadonlySet<string> = new Set(["verified", "beneficiaries_per_year"]);

/** Whether a change alters the members or the order of lists. */
export const movesLists = (change: Change): boolean =>
  movedLists(change).length > 0 || touches(change, countedFields);

/** Whether a change alters numbers of the whole directory, or its day. */
export const changesNumbers = (change: Change): boolean =>
  change.nonprofit_id === null || movesLists(change);

const recommendedFields: ReadonlySet<string> = new Set([
  "slug",
  "name",
  "city",
  "country_code",
  "status",
]);

/** Whether a change may alter a page of recommended nonprofits. */
export const changesRecommended = (change: Change): boolean => touches(change, recommendedFields);

/** Whether a change may alter the list of nonprofits that need help. */
export const changesNeeds = (change: Change): boolean =>
  touches(change, needsFields) ||
  (profileIn(change) !== null && change.moved_lists.includes("thin"));
