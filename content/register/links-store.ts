import { and, asc, eq, getTableColumns, gt, type SQL } from "drizzle-orm";
import type { LinkSource } from "#content/contract/nonprofit.ts";
import { GivenByMerge, merged, unmerged } from "#content/nonprofit/operator-changes.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { orgIdsOf, planSaves, type Save } from "#content/nonprofit/save.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { type Statement, builder, countUpTo, doAll, statement } from "#content/store/query.ts";
import { nonprofits, registrationLinks } from "#content/store/tables/nonprofits.ts";
import { findLinks, type FoundLink, pairOf } from "./found-links-store.ts";

/** The most pairs per transaction, because others need the write lock too. */
const linksAtOnce = 25;

/**
 * Links the profiles of the same organisations as these: one stays, the other is withdrawn in its favour. A claimed profile
 * is queued for an operator instead. Returns what there was to do; with `checkOnly` nothing is done.
 */
export async function linkProfiles(
  store: Store,
  ids: readonly number[],
  { now, checkOnly }: { now: Date; checkOnly: boolean },
): Promise<FoundLink[]> {
  const rows = await findLinks(store, ids);
  if (checkOnly) return rows;
  const done: FoundLink[] = [];
  for (let at = 0; at < rows.length; at += linksAtOnce) {
    const part = rows.slice(at, at + linksAtOnce);
    await store.write(async (tx) => {
      // What was found without the lock may have changed.
      const still = await findLinks(tx, [...new Set(part.map(({ kept }) => kept.id))]);
      for (const link of still) if (await linkFound(tx, link, now)) done.push(link);
    });
  }
  return done;
}

/** False if another link of the same transaction has withdrawn one of the two. */
async function linkFound(
  tx: WriteTransaction,
  { kept, gone, source, waits }: FoundLink,
  now: Date,
): Promise<boolean> {
  const [into, before] = await recordsById(tx, [kept.id, gone.id]);
  if (into?.status === "withdrawn" || before?.status === "withdrawn") return false;
  if (into === undefined || before === undefined) return false;
  const by = { source, set_by: null, reason: null, now };
  const pair = { gone: before, into };
  if (waits) {
    await doAll(tx, putLink(pair, { ...by, state: "waiting" }));
    return true;
  }
  const { saves, statements } = await planLink(tx, pair, by);
  const saved = await planSaves(tx, saves, { origin: `link:${source}`, now });
  await doAll(tx, [...statements, ...saved.statements]);
  return true;
}

type Pair = { gone: NonprofitRecord; into: NonprofitRecord };
type SetLink = { source: LinkSource; set_by: string | null; reason: string | null; now: Date };

/**
 * The two profiles after a link, to be saved in the same transaction, and the writes that record it (if both have a register
 * number), so that it can be undone. Profiles linked to the withdrawn one then redirect to the remaining one.
 */
export async function planLink(
  store: Queryable,
  pair: Pair,
  link: SetLink,
): Promise<LinkPlan & { fields: string[] }> {
  const merge = merged(pair.gone, pair.into, { at: link.now, source: link.source });
  const note = putLink(pair, { ...link, state: "linked", given: merge.given });
  // The remaining profile is listed, so it is not one of those linked to the other.
  const followers = await followersTo(
    store,
    await linksInto(store, pair.gone.slug),
    pair.into.slug,
  );
  const saves = [
    { before: pair.gone, after: merge.gone },
    { before: pair.into, after: merge.into },
    ...followers.saves,
  ];
  return { saves, statements: [...note, ...followers.statements], fields: merge.fields };
}

/** Changes of profiles and of the links between them. */
type LinkPlan = { saves: Save[]; statements: Statement[] };

/** Redirects these links, and the profiles withdrawn by them, to another profile. */
async function followersTo(
  store: Queryable,
  links: readonly Link[],
  slug: string,
): Promise<LinkPlan> {
  const { id } = registrationLinks;
  const plan: LinkPlan = { saves: [], statements: [] };
  for (const link of links) {
    const leading = builder.update(registrationLinks).set({ kept: slug }).where(eq(id, link.id));
    plan.statements.push(statement(leading));
    const before = await recordBySlug(store, link.gone ?? "");
    if (before !== null) plan.saves.push({ before, after: { ...before, merged_into: slug } });
  }
  return plan;
}

/** The links that withdrew other profiles in favour of this one. Index: registration_links_by_kept. */
export const linksInto = (store: Queryable, slug: string): Promise<Link[]> =>
  store.db
    .select()
    .from(registrationLinks)
    .where(and(eq(registrationLinks.kept, slug), eq(registrationLinks.state, "linked")))
    .execute();

/** Records a link between two profiles by the number that each began with; nothing if one has none. */
function putLink(
  { gone, into }: Pair,
  { now, ...link }: SetLink & { state: "linked" | "waiting"; given?: GivenByMerge },
): Statement[] {
  const [[orgId], [other]] = [orgIdsOf(gone), orgIdsOf(into)];
  if (orgId === undefined || other === undefined) return [];
  const names = { gone: gone.slug, kept: into.slug };
  const set = { ...link, ...names, set_at: now.getTime(), undone_by: null, undone_at: null };
  const putting = builder
    .insert(registrationLinks)
    .values({ ...pairOf(orgId, other), ...set })
    .onConflictDoUpdate({
      target: [registrationLinks.org_id, registrationLinks.other_org_id],
      set,
    });
  return [statement(putting)];
}

export type Link = typeof registrationLinks.$inferSelect;

/** The link that withdrew a profile, or null. Index: registration_links_by_gone. */
export async function linkThatTook(store: Queryable, slug: string): Promise<Link | null> {
  const { gone, state } = registrationLinks;
  const [link] = await store.db
    .select()
    .from(registrationLinks)
    .where(and(eq(gone, slug), eq(state, "linked")));
  return link ?? null;
}

/**
 * The two profiles after a link is undone, to be saved in the same transaction, and the writes that mark it as undone: it is
 * never made automatically again.
 */
export async function planUnlink(
  store: Queryable,
  gone: NonprofitRecord,
  link: Link,
  undone: Undone,
): Promise<LinkPlan & { kept: string; fields: string[] }> {
  const into = await profileAt(store, link.kept ?? "", [gone.slug]);
  const close = closeLink(link.id, undone);
  const split = unmerged(gone, into ?? gone, GivenByMerge.parse(link.given));
  const saves: Save[] = [{ before: gone, after: split.gone }];
  if (into === null) return { saves, statements: [close], kept: link.kept ?? "", fields: [] };
  saves.push({ before: into, after: split.into });
  const orgIds = orgIdsOf(split.gone);
  // Profiles that had been linked to it before go back with it.
  const went = (await linksInto(store, into.slug)).filter(
    (other) =>
      other.id !== link.id &&
      orgIds.some((orgId) => orgId === other.org_id || orgId === other.other_org_id),
  );
  const followers = await followersTo(store, went, gone.slug);
  return {
    saves: [...saves, ...followers.saves],
    statements: [close, ...keepApart(split, link, undone), ...followers.statements],
    kept: into.slug,
    fields: split.fields,
  };
}

/** A profile whose link was redirected returns from another profile than it joined: keep these two apart too. */
function keepApart({ gone, into }: Pair, link: Link, undone: Undone): Statement[] {
  const [[orgId], [other]] = [orgIdsOf(gone), orgIdsOf(into)];
  if (orgId === undefined || other === undefined) return [];
  const { id: _, ...rest } = link;
  const apart = builder
    .insert(registrationLinks)
    .values({ ...rest, ...pairOf(orgId, other), kept: into.slug, ...undoneBy(undone) })
    .onConflictDoNothing();
  return [statement(apart)];
}

/** The profile with this slug, or the one it was merged into; never one of those already `seen`. */
async function profileAt(
  store: Queryable,
  slug: string,
  seen: readonly string[],
): Promise<NonprofitRecord | null> {
  const record = await recordBySlug(store, slug);
  const next = record?.merged_into ?? null;
  return next === null || seen.includes(next) ? record : profileAt(store, next, [...seen, slug]);
}

/** Records an operator's decision that two registrations are not one organisation. */
export const closeLink = (id: number, undone: Undone): Statement =>
  statement(
    builder.update(registrationLinks).set(undoneBy(undone)).where(eq(registrationLinks.id, id)),
  );

type Undone = { by: string; reason: string; now: Date };

const undoneBy = ({ by, reason, now }: Undone) => ({
  state: "undone" as const,
  undone_by: by,
  undone_at: now.getTime(),
  reason,
  given: null,
});

/** Links that wait for an operator, each with the profile that would stay. Index: registration_links_by_state. */
export const waitingLinks = {
  count: (store: Queryable, max: number): Promise<number> =>
    countUpTo(store, max, "SELECT 1 FROM registration_links WHERE state = 'waiting'"),
  page: (store: Queryable, { after, limit }: { after: number; limit: number }) =>
    withProfile(store, and(gt(registrationLinks.id, after), isWaiting), limit),
  byId: async (store: Queryable, id: number) =>
    (await withProfile(store, eq(registrationLinks.id, id), 1))[0] ?? null,
};

const isWaiting = eq(registrationLinks.state, "waiting");

async function withProfile(store: Queryable, where: SQL | undefined, limit: number) {
  const rows = await store.db
    .select({ ...getTableColumns(registrationLinks), nonprofit_id: nonprofits.id })
    .from(registrationLinks)
    .innerJoin(nonprofits, eq(nonprofits.slug, registrationLinks.kept))
    .where(where)
    .orderBy(asc(registrationLinks.id))
    .limit(limit);
  return rows.map((row) => ({ ...row, status: row.state === "waiting" ? "pending" : row.state }));
}
