import type { NonprofitStatus } from "#content/shapes/nonprofit.ts";
import { jsonOf, unpacked } from "./packed.ts";
import type { Asked } from "./records.ts";

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
export const donateTarget = (asked: Asked, slug: string, now: Date): Promise<DonateTarget | null> =>
  first(asked, { where: "slug = ?2", value: slug, now });

/** The same by its id. */
export const donateTargetById = (
  asked: Asked,
  id: number,
  now: Date,
): Promise<DonateTarget | null> => first(asked, { where: "id = ?2", value: id, now });

// A held change of wallet counts from the millisecond at which its hold ends, whether or not it is public yet.
async function first(
  asked: Asked,
  { where, value, now }: { where: string; value: string | number; now: Date },
): Promise<DonateTarget | null> {
  const { rows } = await asked.execute({
    sql: `SELECT json_insert(${jsonOf(columns)}, '$.usdc_wallet', coalesce(
            (SELECT wallet FROM wallet_holds AS h WHERE h.nonprofit_id = n.id AND h.status = 'held' AND effective_at <= ?1),
            usdc_wallet
          )) AS packed
          FROM nonprofits AS n
          WHERE ${where}`,
    args: [now.getTime(), value],
  });
  return unpacked<DonateTarget>(rows)[0] ?? null;
}
