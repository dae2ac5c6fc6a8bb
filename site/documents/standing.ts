import { registersReadFact } from "#content/register/import-store.ts";
import { knownSchemes, schemeOf } from "#content/register/org-id.ts";
import { registerById } from "#content/nonprofit/register-facts.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { deductibilityOf } from "#content/nonprofit/giver-answers.ts";
import {
  type RegisteredNumber,
  type ScopesRead,
  sinceOf,
  sourceOf,
  standingInWords,
  standingOf,
} from "#content/register/standing.ts";
import {
  branchesUnder,
  knownUnder,
  nameScheme,
  namesUnder,
  orgIdsOf,
  rowsUnder,
  scopesRead,
} from "#content/register/standing-store.ts";
import { countryName } from "#content/nonprofit/country.ts";
import type { Queryable } from "#content/store/open.ts";
import { placesInLine } from "#site/parts/words.ts";
import { hasManyProfiles } from "./lunr.ts";
import { type BundleFile, type DocumentKey, oneByOne, type Source } from "./document.ts";

/** The most rows of registers and profiles in one shard: it stays below 70 kB, before compression. */
export const shardRowsMax = 600;
/** The longest number prefix that is split. Every number is longer than this, so a split prefix is never a whole number. */
const splitLengthMax = 5;

export const standingFolder = "standing/";
const indexPath = `${standingFolder}index.json`;
const indexKey: DocumentKey = "standing index";
/** The key of the shard of org-ids that begin with `prefix`. */
const leafKey = (prefix: string): DocumentKey => `standing ${prefix}`;

/** The columns of a shard's rows. */
const columns = [
  "number",
  "slug",
  "name",
  "standing",
  "register",
  "as_of",
  "since",
  "deductibility",
  "deductibility_register",
] as const;
const nameColumns = ["slug", "name", "place"] as const;
const nameLengthMax = 80;

/**
 * The standing of every organisation by its number, for readers that have only the bundle: an index, and shards by the
 * beginning of the number, long enough to keep them small. When there are too many profiles for word indexes, shards of
 * names (by slug) work the same way. Depends on the store alone; see docs/standing.md and docs/search-offline.md.
 */
export const standing = oneByOne<Pick<Source, "store">>(
  "standing",
  async function* ({ store }) {
    const { leaves } = await shardsOf(store);
    yield [indexKey];
    for (const leaf of leaves) yield [leafKey(leaf)];
  },
  ({ store }, prefix = "") => (prefix === "index" ? indexFile(store) : shardFile(store, prefix)),
);

/** `leaves`: the org-id prefixes that have a shard. `split`: by scheme, the number prefixes that are split further. */
type Shards = { leaves: string[]; split: Map<string, string[]> };

async function shardsOf(store: Queryable): Promise<Shards> {
  const shards: Shards = { leaves: [], split: new Map() };
  const isNamed = await hasManyProfiles(store);
  for (const scheme of isNamed ? [...knownSchemes, nameScheme] : knownSchemes) {
    const root = `${scheme}-`;
    const split: string[] = [];
    const visit = async (prefix: string, rows: number): Promise<void> => {
      if (isLeaf(prefix, rows)) return void shards.leaves.push(prefix);
      split.push(numberIn(prefix));
      for (const [next, below] of await branchesUnder(store, prefix)) {
        // A slug that is the beginning of other slugs has a shard of its own.
        if (next === "") shards.leaves.push(prefix);
        else await visit(prefix + next, below);
      }
    };
    shards.split.set(scheme, split);
    const rows = await rowsUnder(store, root, shardRowsMax);
    if (rows === 0) continue;
    await visit(root, rows);
  }
  return shards;
}

const numberIn = (prefix: string): string => prefix.slice(schemeOf(prefix).length + 1);

const isKnown = (orgId: string): boolean => knownSchemes.includes(schemeOf(orgId));
const isName = (prefix: string): boolean => schemeOf(prefix) === nameScheme;
const isLeaf = (prefix: string, rows: number): boolean =>
  rows <= shardRowsMax || (!isName(prefix) && numberIn(prefix).length > splitLengthMax);

/** The shard that contains a number. Counts a few ranges of an index, of at most `shardRowsMax` rows each. */
async function leafOf(store: Queryable, orgId: string): Promise<string> {
  for (let length = schemeOf(orgId).length + 1; ; length++) {
    const prefix = orgId.slice(0, length);
    if (length > orgId.length || isLeaf(prefix, await rowsUnder(store, prefix, shardRowsMax)))
      return prefix;
  }
}

const pathOf = (prefix: string): string =>
  `${standingFolder}${schemeOf(prefix)}/${numberIn(prefix) || "all"}.json`;

async function indexFile(store: Queryable): Promise<BundleFile> {
  const { split } = await shardsOf(store);
  const scopes = await scopesRead(store);
  const registers = [...scopes].flatMap(([id, parts]) => {
    const name = registerById(id)?.name;
    return name === undefined ? [] : [[id, { name, parts: Object.fromEntries(parts) }] as const];
  });
  const index = {
    format: "standing 1",
    columns,
    registers: Object.fromEntries(registers),
    schemes: Object.fromEntries(
      [...split].map(([scheme, prefixes]) => [
        scheme,
        scheme === nameScheme
          ? { columns: nameColumns, split: prefixes }
          : { split: prefixes, unlisted: unlistedOf(scheme, scopes) },
      ]),
    ),
  };
  return { path: indexPath, body: `${JSON.stringify(index)}\n` };
}

/** The standing of a number that is in no shard. */
function unlistedOf(scheme: string, scopes: ScopesRead) {
  const judged = standingOf([], scopes, scheme);
  const meaning = standingInWords(judged, scheme);
  return { standing: judged.value, ...sourceOf(null, [], scopes, scheme), meaning };
}

async function shardFile(store: Queryable, prefix: string): Promise<BundleFile> {
  const path = pathOf(prefix);
  const whole = numberIn(prefix) === "" ? null : prefix.slice(0, -1);
  const isSplit = !isLeaf(prefix, await rowsUnder(store, prefix, shardRowsMax));
  const isMerged = whole !== null && isLeaf(whole, await rowsUnder(store, whole, shardRowsMax));
  const rows = isName(prefix)
    ? await nameRows(store, prefix, isSplit)
    : await standingRows(store, isSplit ? null : prefix);
  if (isMerged || rows.length === 0) return { path, body: null };
  const organisations = rows.map((row) => JSON.stringify(row)).join(",\n");
  const head = JSON.stringify({ scheme: schemeOf(prefix), prefix: numberIn(prefix) }).slice(0, -1);
  return { path, body: `${head},"organisations":[\n${organisations}\n]}\n` };
}

async function standingRows(store: Queryable, prefix: string | null) {
  const organisations = prefix === null ? [] : await knownUnder(store, prefix);
  const scopes = await scopesRead(store);
  return organisations.map(([orgId, about]) => {
    const scheme = schemeOf(orgId);
    return rowOf(orgId.slice(scheme.length + 1), about, scopes, scheme);
  });
}

async function nameRows(store: Queryable, prefix: string, exact: boolean) {
  const names = (await hasManyProfiles(store)) ? await namesUnder(store, prefix, { exact }) : [];
  return names.map(({ slug, name, city, region, country_code }) => {
    const country = countryName(country_code ?? "") ?? null;
    return [slug, nameIn(name), placesInLine([city, region, country])];
  });
}

const nameIn = (name: string): string => name.slice(0, nameLengthMax).toWellFormed();

function rowOf(
  number: string,
  { records, profile }: RegisteredNumber,
  scopes: ScopesRead,
  scheme: string,
) {
  const judged = standingOf(records, scopes, scheme);
  const gifts = deductibilityOf(records, judged.value === "revoked" ? judged.by : null, scheme);
  const { slug, name } = profile ?? { slug: null, name: records[0]?.name ?? "" };
  const { register, as_of } = sourceOf(judged.by, records, scopes, scheme);
  return [
    number,
    slug,
    nameIn(name),
    judged.value,
    register,
    as_of,
    (judged.by && sinceOf(judged.by)) || null,
    ...(gifts === null ? [null, null] : [gifts.value, gifts.by?.register ?? null]),
  ];
}

const shownFields: ReadonlySet<string> = new Set([
  "city",
  "region",
  "country_code",
  "name",
  "slug",
  "status",
  "registrations",
  "register_records",
]);

/** For more changed profiles than this, looking at all shards is faster. */
const changedMax = 500;

/**
 * The shards that changes make stale: those of the changed profiles' numbers, or all of them after an import of registers,
 * which affects organisations without a profile. Includes shards that were created or removed by splitting and merging.
 */
export async function staleStanding(
  store: Queryable,
  changes: readonly Change[],
  held: readonly string[],
): Promise<DocumentKey[]> {
  const isRead = changes.some(({ fields }) => fields.includes(registersReadFact));
  const touched = changes.filter(
    ({ kind, fields }) => kind === "added" || fields.some((field) => shownFields.has(field)),
  );
  const ids = new Set(touched.flatMap(({ nonprofit_id }) => nonprofit_id ?? []));
  if (!isRead && ids.size === 0) return [];
  const all = isRead || ids.size > changedMax;
  const isNamed = await hasManyProfiles(store);
  const slugs = isNamed ? touched.map(({ slug }) => `${nameScheme}-${slug}`) : [];
  const orgIds = all ? [] : [...(await orgIdsOf(store, [...ids])).filter(isKnown), ...slugs];
  const stale = new Set<string>();
  for (const orgId of orgIds) stale.add(await leafOf(store, orgId));
  const paths = new Set(held);
  const wasNamed = held.some((path) => path.startsWith(`${standingFolder}${nameScheme}/`));
  if (!all && isNamed === wasNamed && [...stale].every((leaf) => paths.has(pathOf(leaf)))) {
    return [...stale].map(leafKey);
  }
  const { leaves } = await shardsOf(store);
  const now = new Map(leaves.map((leaf) => [pathOf(leaf), leaf]));
  const came = leaves.filter((leaf) => all || stale.has(leaf) || !paths.has(pathOf(leaf)));
  const went = held.filter((path) => !now.has(path)).flatMap((path) => prefixOf(path) ?? []);
  return [indexKey, ...[...came, ...went].map(leafKey)];
}

function prefixOf(path: string): string | null {
  const [, scheme = "", number = ""] = /^standing\/([^/]+)\/([^/]+)\.json$/.exec(path) ?? [];
  return scheme === "" ? null : `${scheme}-${number === "all" ? "" : number}`;
}
