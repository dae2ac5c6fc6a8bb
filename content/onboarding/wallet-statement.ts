import type { Cluster } from "#content/contract/donation.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { type WalletAnswer, walletProofs, type WalletStatement } from "#content/contract/wallet.ts";
import { type Signer, signCompact } from "#content/feed/signing-keys.ts";
import type { WalletOwner } from "./wallet-owner-store.ts";

type Said = { signer: Signer; issuer: string; cluster: Cluster; now: Date };

/** What the directory says of an address on this day, signed. `issuer` has no trailing slash. */
export async function walletAnswer(
  address: string,
  owner: WalletOwner | undefined,
  { signer, issuer, cluster, now }: Said,
): Promise<WalletAnswer> {
  const said = {
    address,
    status: owner?.status ?? "not known",
    slug: owner?.slug ?? null,
    name: owner?.name ?? null,
    since: typeof owner?.at === "number" ? isoDay(owner.at) : null,
    proof: owner === undefined ? null : walletProofs[owner.proof],
  } as const;
  const type = "almoner-wallet-statement/1";
  const day = isoDay(now.getTime());
  const payload: WalletStatement = { type, issuer, day, cluster, ...said };
  return { ...said, jws: await signCompact(JSON.stringify(payload), signer) };
}
