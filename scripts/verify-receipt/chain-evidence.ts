import { openChain } from "#api/chain/open-chain.ts";
import type { Cluster, Receipt } from "#content/contract/donation.ts";
import type { DonationNetwork, Landed } from "#content/contract/transfer.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";

export type EvidenceFailure =
  | { kind: "chain_disagrees"; what: string; receipt: string; chain: string }
  | { kind: "not_on_chain"; tx_signature: string }
  | { kind: "unreachable"; from: string; why: string }
  | { kind: "wrong_chain"; why: string };

const networks: Record<Cluster, DonationNetwork> = {
  mainnet: "solana",
  devnet: "solana-devnet",
  local: "local",
};

/** Looks the transfer of a receipt up on the chain, by a node of anyone who checks. */
export async function evidenceOnChain(
  receipt: Receipt,
  rpcUrl: string,
): Promise<Result<null, EvidenceFailure>> {
  const { evidence } = receipt;
  const opened = await openChain({
    network: networks[evidence.cluster],
    rpcUrls: [rpcUrl],
    sponsorKey: null,
    commitment: "confirmed",
    clock: () => new Date(),
  });
  if (!opened.ok) return fail({ kind: "wrong_chain", why: opened.failure.message });
  const chain = opened.value;
  const landed = await chain.landed(evidence.tx_signature);
  if (!landed.ok) return fail({ kind: "unreachable", from: rpcUrl, why: landed.failure.why });
  if (landed.value === null) {
    return fail({ kind: "not_on_chain", tx_signature: evidence.tx_signature });
  }
  const differing = differences(receipt, landed.value, chain).find(
    ({ receipt: said, chain: shown }) => said !== shown,
  );
  return differing === undefined ? ok(null) : fail({ kind: "chain_disagrees", ...differing });
}

/** What the chain shows of a transfer that is not in the transaction. */
const noCredit = {
  mint: "none",
  owner: "none",
  amount_micro_usdc: 0n,
  donor: null,
  source: null,
};

type Fact = { what: string; receipt: string; chain: string };

/** What the receipt says beside what the chain shows, each as text. */
function differences(
  { evidence, amount_atomic, amount_usdc, settled_at }: Receipt,
  { slot, failed, block_time, credits, memos }: Landed,
  { mint, caip2 }: { mint: string; caip2: string },
): Fact[] {
  const credit =
    credits.find(({ destination }) => destination === evidence.destination) ?? noCredit;
  const memo = evidence.memo;
  const fact = (what: string, said: unknown, shown: unknown): Fact => ({
    what,
    receipt: String(said),
    chain: String(shown),
  });
  return [
    fact("chain", evidence.network, caip2),
    fact("failed", false, failed),
    fact("slot", evidence.slot, slot),
    fact("mint", evidence.mint, mint),
    fact("token of the transfer", evidence.mint, credit.mint),
    fact("recipient", evidence.recipient, credit.owner),
    fact("amount_atomic", amount_atomic, credit.amount_micro_usdc),
    fact("amount_usdc", amount_usdc, Number(credit.amount_micro_usdc) / 1_000_000),
    fact("donor", evidence.donor, credit.donor),
    // A receipt may be older than the knowledge of it.
    ...(evidence.source == null ? [] : [fact("source", evidence.source, credit.source)]),
    fact("memo", memo, memo === null || memos.includes(memo) ? memo : memos.join(", ")),
    ...(block_time === null
      ? []
      : [fact("settled_at", Date.parse(settled_at) / 1_000, block_time)]),
  ];
}
