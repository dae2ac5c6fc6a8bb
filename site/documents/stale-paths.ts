import { staticPagesMax } from "#content/contract/browse.ts";
import { type Change, isOfDonations } from "#content/nonprofit/changes-store.ts";
import { summaryColumns } from "#content/nonprofit/wire.ts";
import { keyOf } from "./keys.ts";
import { pageOf, sitemapChunkOf, snapshotPartOf } from "./page-sizes.ts";
import type { DocumentKey } from "./document.ts";

/** Fields that an item of a list shows: only these make a list page stale when nothing moved. */
const listedFields: ReadonlySet<string> = new Set([...summaryColumns, "causes", "status"]);

/** Fields that help-wanted shows or sorts by, beside the moves in its list. */
const needsFields: ReadonlySet<string> = new Set([...listedFields, "description", "contact_email"]);

/** Fields that are counted on the first page of each list. */
const countedFields: ReadonlySet<string> = new Set([
  ...["causes", "country_code", "region", "city", "verified", "status"],
  ...["usdc_wallet", "website", "register_records"],
]);

/** Fields that the home page shows of a recommended nonprofit. */
const recommendedFields: ReadonlySet<string> = new Set([
  ...["slug", "name", "city", "country_code", "status"],
]);

const touches = (change: Change, fields: ReadonlySet<string>): boolean =>
  change.fields.some((field) => fields.has(field));

/** Fields that may move a nonprofit in the list of those that want help, though it keeps its place elsewhere. */
const needsOrder: ReadonlySet<string> = new Set([
  "verified",
  "status",
  "beneficiaries_per_year",
  "slug",
]);

/**
 * The profile job: the profile itself, the cause pages where it keeps its place, and help-wanted when it stands there
 * (`needs`, the slugs on it; null when no one knows) or may come to. `places` holds the place (from 0) of the
 * nonprofit in each of its lists. Everything else waits for the list job.
 */
export function staleAtOnce(
  change: Change,
  places: ReadonlyMap<string, number>,
  needs: ReadonlySet<string> | null,
): DocumentKey[] {
  if (change.nonprofit_id === null || isOfDonations(change)) return [];
  const causes = keptPages(change, places).filter(([list]) => list.startsWith("cause:"));
  const keys = [keyOf.profile(change.nonprofit_id), ...causes.map(([, key]) => key)];
  const mayMove = change.moved_lists.includes("thin") || touches(change, needsOrder);
  const stands = needs?.has(change.slug ?? "") ?? true;
  if (mayMove || (stands && touches(change, needsFields))) keys.push(keyOf.needs);
  return keys;
}

/** Whether the profile job has to know the places of the changed nonprofit. */
export const needsPlaces = (change: Change): boolean => touches(change, listedFields);

/**
 * The list job: all that may shift many pages, or that many changes make stale together. `lists` are those whose pages
 * all have to be looked at again.
 */
export function staleLater(
  change: Change,
  places: ReadonlyMap<string, number>,
): { keys: DocumentKey[]; lists: string[] } {
  if (change.nonprofit_id === null) return { keys: directoryKeys, lists: [] };
  if (isOfDonations(change)) return { keys: [keyOf.donations(change.nonprofit_id)], lists: [] };
  const moved = change.moved_lists.filter((list) => list !== "thin");
  const keys = [
    // It names the nonprofit.
    ...(change.fields.includes("name") ? [keyOf.donations(change.nonprofit_id)] : []),
    keyOf.profileHistory(change.nonprofit_id),
    keyOf.snapshotPart(snapshotPartOf(change.nonprofit_id)),
    keyOf.sitemap(sitemapChunkOf(change.nonprofit_id)),
    keyOf.sitemapIndex,
  ];
  if (moved.length > 0 || touches(change, new Set(["verified", "beneficiaries_per_year"]))) {
    keys.push(...directoryKeys, keyOf.causes, keyOf.sitemapPages);
  }
  if (touches(change, needsFields) || change.moved_lists.includes("thin")) {
    keys.push(keyOf.discovery("agents"));
  }
  // It may be one of those that are recommended there.
  if (touches(change, recommendedFields)) {
    keys.push(keyOf.page("home"), keyOf.page("recommendations"));
  }
  const kept = keptPages(change, places).filter(([list]) => list !== "thin");
  keys.push(...kept.map(([, key]) => key));
  if (touches(change, countedFields)) {
    keys.push(...[...places.keys()].map((list) => keyOf.listPage(list, 1)));
  }
  return { keys, lists: moved };
}

/** The pages that show what changed, of the lists where the nonprofit keeps its place. */
function keptPages(
  change: Change,
  places: ReadonlyMap<string, number>,
): [list: string, key: DocumentKey][] {
  if (!touches(change, listedFields)) return [];
  return [...places]
    .filter(([list]) => !change.moved_lists.includes(list))
    .filter(([list, place]) => pageOf(list, place) <= staticPagesMax)
    .map(([list, place]) => [list, keyOf.listPage(list, pageOf(list, place))]);
}

/** Documents that show numbers of the whole directory, or the day. */
const directoryKeys: DocumentKey[] = [
  keyOf.auditHeads,
  keyOf.stats,
  keyOf.chartFiles,
  keyOf.needs,
  keyOf.leaderboard,
  keyOf.exemplars,
  keyOf.enrichmentStats,
  ...(["llms", "agents", "security"] as const).map(keyOf.discovery),
  ...(
    [
      "home",
      "recommendations",
      "about",
      "privacy",
      "causes",
      "countries",
      "statistics",
      "agents",
    ] as const
  ).map(keyOf.page),
];
