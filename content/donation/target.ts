import type { NonprofitStatus } from "#content/contract/nonprofit.ts";
import { jsonOf, unpacked } from "#content/store/packed.ts";
import type { Queryable } from "#content/store/open.ts";

/** What a donation needs to know of a nonprofit. */
export type DonateTarget = {
  id: number;
  slug: string;
  name: string;
  status: NonprofitStatus;
  /** The wallet in effect at the asked instant, null without one. */
  usdc_wallet: string | null;
  /** Where else it takes donations. Third-party text. */
  donation_url: string | null;
};

const columns = ["id", "slug", "name", "status", "donation_url"];

/** The nonprofit with this slug, withdrawn ones too; null when there is none. Index: nonprofits_slug. */
export const donateTarget = (
  store: Queryable,
  slug: string,
  now: Date,
): Promise<DonateTarget | null> =>
  donateTargets(store, [slug], now).then(([target]) => target ?? null);

/** The same for several at once, in their order. */
export async function donateTargets(
  store: Queryable,
  slugs: readonly string[],
  now: Date,
): Promise<(DonateTarget | null)[]> {
  const values = JSON.stringify([...new Set(slugs)]);
  const found = await all(store, {
    where: "slug IN (SELECT value FROM json_each(?2))",
    value: values,
    now,
  });
  const bySlug = new Map(found.map((target) => [target.slug, target]));
  return slugs.map((slug) => bySlug.get(slug) ?? null);
}

/** The nonprofit with this id, withdrawn ones too; null when there is none. */
export const donateTargetById = (
  store: Queryable,
  id: number,
  now: Date,
): Promise<DonateTarget | null> =>
  all(store, { where: "id = ?2", value: id, now }).then(([target]) => target ?? null);

// A held change of wallet counts from the millisecond at which its hold ends, whether or not it is public yet.
async function all(
  store: Queryable,
  { where, value, now }: { where: string; value: string | number; now: Date },
): Promise<DonateTarget[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT json_insert(${jsonOf(columns)}, '$.usdc_wallet', coalesce(
            (SELECT wallet FROM wallet_holds AS h WHERE h.nonprofit_id = n.id AND h.status = 'held' AND effective_at <= ?1),
            usdc_wallet
          )) AS packed
          FROM nonprofits AS n
          WHERE ${where}`,
    args: [now.getTime(), value],
  });
  return unpacked<DonateTarget>(rows);
}
