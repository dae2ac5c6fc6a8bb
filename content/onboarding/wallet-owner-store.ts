import { z } from "zod";
import { WalletAnswer } from "#content/contract/transfer.ts";
import { proofs } from "#content/editorial/wallets.json";
import type { Queryable } from "#content/store/open.ts";
import { query } from "#content/store/query.ts";

const proofWords = new Map(Object.entries(proofs));
/** The statement about an address, before it is signed. */
const WalletOwner = WalletAnswer.omit({ jws: true }).extend({
  proof: z.string().transform((kind) => proofWords.get(kind) ?? null),
});
export type WalletOwner = z.infer<typeof WalletOwner>;

/** A wallet whose hold has ended is in effect even before that is stored. */
const ownersSql = `
WITH addresses(address) AS MATERIALIZED (SELECT DISTINCT value FROM json_each(?1)),
known AS (
  SELECT address, n.id,
    CASE WHEN n.status = 'withdrawn' THEN 'revoked' WHEN due.wallet IS NULL THEN 'active' ELSE 'replaced' END AS status,
    CASE WHEN n.status <> 'withdrawn' THEN coalesce(due.effective_at, p.applied_at) END AS at,
    coalesce(p.applied_at, n.created_at) AS place
  FROM addresses
  JOIN nonprofits AS n ON n.usdc_wallet = address
  LEFT JOIN provenance AS p ON p.nonprofit_id = n.id AND p.field = 'usdc_wallet'
  LEFT JOIN wallet_holds AS due
    ON due.nonprofit_id = n.id AND due.status = 'held' AND due.effective_at <= ?2
  UNION ALL
  SELECT wallet, nonprofit_id, iif(effective_at <= ?2, 'active', 'held'),
    iif(effective_at <= ?2, effective_at, approved_at), approved_at
  FROM wallet_holds
  WHERE status = 'held' AND wallet IN addresses
  UNION ALL
  SELECT detail ->> ?3, n.id, iif(action = 'wallet.removed', 'revoked', 'replaced'),
    happened_at, -happened_at
  FROM audit_log JOIN nonprofits AS n ON n.slug = subject
  WHERE action IN ('wallet.in_effect', 'wallet.removed') AND detail ->> ?3 IN addresses
)
SELECT address, known.status, n.slug, n.name, date(at / 1000, 'unixepoch') AS since, coalesce(
  (
    SELECT trim(iif(proven_host IS NULL, '', 'host') || iif(s.wallet_signature IS NULL, '', ' wallet'))
    FROM onboarding_submissions AS s
    WHERE s.nonprofit_id = n.id AND s.status = 'approved' AND request ->> 'usdc_wallet' = address
    ORDER BY s.created_at DESC
    LIMIT 1
  ),
  iif(n.usdc_wallet = address AND n.wallet_signature IS NOT NULL, 'signature', 'none')
) AS proof
FROM known JOIN nonprofits AS n ON n.id = known.id
ORDER BY CASE known.status WHEN 'active' THEN 0 WHEN 'held' THEN 1 ELSE 2 END, place`;

/**
 * Who has, will have or had these wallets, in order. If several nonprofits have one, the first that had it; of former
 * owners, the last. SQL, because it combines current, held and former wallets (from the audit log). Indexes:
 * nonprofits_by_wallet, one_held_wallet_per_nonprofit, audit_log_by_action, onboarding_by_nonprofit.
 */
export async function ownersOf(
  store: Queryable,
  addresses: readonly string[],
  now: Date,
): Promise<WalletOwner[]> {
  const args = [JSON.stringify(addresses), now.getTime(), "from"];
  const rows = await query(store, ownersSql, args, WalletOwner);
  const owners = new Map(rows.toReversed().map((owner) => [owner.address, owner]));
  return addresses.map((address) => owners.get(address) ?? { ...notKnown, address });
}

const notKnown = { status: "not known", slug: null, name: null, since: null, proof: null } as const;
