import { offeredCaip2Of } from "./network.ts";
import { batcher, singleFlight } from "#content/runtime/concurrency.ts";
import type { MemoSeal } from "./memo.ts";
import { countedCache } from "#content/runtime/cache.ts";
import { type DonateTarget, donateTargets } from "./store.ts";
import type { MicroUsdc, TransactionFacts } from "#content/contract/transfer.ts";
import {
  type SponsorBudget,
  budgetDayMs,
  canPay,
  hasBudget,
  sponsoredByNonprofit,
} from "./intent-store.ts";
import type { Store } from "#content/store/open.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { type Result, fail, ok } from "#content/contract/base/result.ts";
import type { PaymentFacts } from "./payment-checks.ts";
import { type Deadline, deadlineIn, withTimeout } from "#content/runtime/timing.ts";
import type { PaymentRequirements } from "#content/contract/donation.ts";

/** How long one look at the chain serves all who wait for a memo: less than the 3 s after which they ask again. */
const lookSharedMs = 2_500;
const looksMax = 10_000;

/** What all steps of a donation depend on. */
export type GivingWorld = ReturnType<typeof givingWorld>;

/** The operator's settings for giving. */
type GivingSettings = {
  solanaRpcUrls: readonly string[];
  /** Without a trailing slash. */
  baseUrl: string;
  commitment: "confirmed" | "finalized";
  finalizedAbove: MicroUsdc;
  donationWindowMs: number;
  sponsoredMin: MicroUsdc;
  sponsorBudget: SponsorBudget;
};

export function givingWorld({
  store,
  clock,
  chain,
  config,
  secrets,
}: {
  store: Store;
  clock: Clock;
  chain: Chain;
  config: GivingSettings;
  secrets: { donationMemoKey: Uint8Array };
}) {
  // Requests in one turn of the event loop share a statement: preparing it costs more than running it.
  const targets = batcher((slugs: readonly string[]) => donateTargets(store, slugs, clock()));
  const seal: MemoSeal = { key: secrets.donationMemoKey, network: chain.caip2 };
  return {
    store,
    clock,
    chain,
    /** The current nonprofit with this slug, even a withdrawn one; null when there is none. */
    targetOf: (slug: string): Promise<DonateTarget | null> => targets.ask(slug),
    seal,
    /** Memos that were looked for recently. */
    looked: countedCache<true>(looksMax, {
      ttl: lookSharedMs,
      ttlResolution: 0,
      perf: { now: () => clock().getTime() },
    }),
    /** The CAIP-2 id offered to x402 version 2 clients: one that they know. */
    offeredNetwork: offeredCaip2Of(chain.cluster, chain.caip2),
    /** Address of the local chain, for trying a gift; null on every other network. */
    localRpcUrl: chain.cluster === "local" ? (config.solanaRpcUrls[0] ?? null) : null,
    /** Without a trailing slash. */
    baseUrl: config.baseUrl,
    /** The commitment from which a landed transfer counts. */
    commitment: config.commitment,
    /** A larger gift counts only when it is finalized. */
    finalizedAbove: config.finalizedAbove,
    /** The greatest age of a transfer that does not carry our memo. */
    windowMs: config.donationWindowMs,
    /** The lowest amount for which the sponsor pays fees, if the recipient's account exists. */
    sponsoredMin: config.sponsoredMin,
    sponsorBudget: config.sponsorBudget,
    sponsorship: openSponsorship({ store, clock, chain, budget: config.sponsorBudget }),
    /** Waits; tests replace it to save time. */
    pause: (ms: number): Promise<void> => Bun.sleep(ms),
  };
}

const refreshEveryMs = 10_000;

/**
 * The sponsor's money as last read, so that a demand for payment need not wait for it. While demands come it is read again
 * in the background, at most every 10 s. The binding count is made in the store when a payment is claimed.
 */
function openSponsorship({
  store,
  clock,
  chain,
  budget,
}: {
  store: Store;
  clock: Clock;
  chain: Pick<Chain, "sponsor" | "balanceOf">;
  budget: SponsorBudget;
}) {
  const self = {};
  let askedAtMs = -Infinity;
  let latest = { balance: null as number | null, spent: new Map<number, number>(), all: 0 };
  const refresh = () =>
    singleFlight(self, "sponsorship", async () => {
      const now = clock().getTime();
      askedAtMs = now;
      const spent = await sponsoredByNonprofit(store, now - budgetDayMs);
      const answer = chain.sponsor === null ? null : await chain.balanceOf(chain.sponsor);
      const all = [...spent.values()].reduce((sum, lamports) => sum + lamports, 0);
      latest = { balance: answer?.ok === true ? answer.value : latest.balance, spent, all };
    });
  const look = () => void refresh().catch(() => undefined);
  if (chain.sponsor !== null) look(); // So that the first demand knows the balance.
  return {
    /** Why the sponsor may not be offered for a gift to this nonprofit; null when it may. */
    whyNot: (nonprofitId: number): "no_sponsor" | "no_budget" | "no_money" | null => {
      if (chain.sponsor === null) return "no_sponsor";
      if (clock().getTime() - askedAtMs >= refreshEveryMs) look();
      const { balance, spent, all } = latest;
      const ofNonprofit = spent.get(nonprofitId) ?? 0;
      if (!hasBudget(all, budget.day) || !hasBudget(ofNonprofit, budget.nonprofit))
        return "no_budget";
      return canPay(balance) ? null : "no_money";
    },
  };
}

/** No RPC endpoint gave a clear answer in time. Nothing is known, in particular not that no money has moved. */
export type ChainUnclear = { kind: "chain_unclear"; why: string };

/** The chain ran the payment, or a node judged it, and it moves no money. */
export type PaymentFails = { kind: "payment_fails"; why: string };

/** A signed payment from a client, parsed before anyone broadcasts it. */
export type Payment = PaymentFacts & {
  /** Base58: the donor's signature, or the sponsor's if the sponsor pays the fee. Null while the sponsor's is missing. */
  tx_signature: string | null;
  memos: readonly string[];
  blockhash: string;
  /** The whole transaction as it was sent. */
  bytes: Uint8Array;
};

/** A payment that is not made yet; `references` are accounts by which it can be found. */
export type UnsignedPayment = { to: string; amount: bigint; memo: string; references: string[] };

export type NotSponsored = { kind: "not_sponsored"; why: string };

/** A payment with all required signatures. */
export type SignedPayment = Payment & { tx_signature: string };

type Answer<Value> = Promise<Result<Value, ChainUnclear>>;

/**
 * The chain on which gifts are made, as giving needs it. Each call answers yes, no or "unclear": an answer that no node gave
 * clearly is never taken for a no. Nothing in it throws.
 */
export type Chain = {
  cluster: PaymentRequirements["cluster"];
  network: "solana" | "solana-devnet";
  caip2: string;
  /** The token that counts as USDC. */
  mint: string;
  /** Account that pays network fees for donors; null when there is none. */
  sponsor: string | null;
  /** Why no node answered; null when one did. */
  health: () => Promise<{ why: string | null }>;
  /** The token account of a wallet, which must be a valid address. */
  tokenAccountOf: (wallet: string) => string;
  /** Whether the wallet's token account exists. */
  canReceive: (wallet: string) => Answer<boolean>;
  /** Lamports of an account; 0 for a missing one. */
  balanceOf: (address: string) => Answer<number>;
  /** The facts of a transaction; null while the chain does not know it at this commitment. */
  landed: (txSignature: string, at?: "confirmed" | "finalized") => Answer<TransactionFacts | null>;
  /** Whether the chain knows each of these signatures, in order; at most 256. */
  known: (txSignatures: readonly string[]) => Answer<boolean[]>;
  /** Whether a transaction that was seen at a slot is no longer on the chain. */
  vanished: (txSignature: string, slot: number) => Answer<boolean>;
  /** The newest signatures of transactions that name an account, without failed ones. */
  signaturesOf: (account: string, limit: number) => Answer<string[]>;
  /** Whether a transaction with this blockhash can still land. */
  stillValid: (blockhash: string) => Answer<boolean>;
  /** Parses a base64 transaction. Asks no node. */
  readPayment: (text: string) => Result<Payment, { kind: "payment_malformed"; why: string }>;
  /** Adds the sponsor's signature to a payment that the caller has checked. */
  sponsored: (payment: Payment) => Result<SignedPayment, NotSponsored>;
  /** A payment for a donor's wallet to sign, in base64. */
  unsigned: (donor: string, payment: UnsignedPayment) => Answer<string>;
  simulate: (payment: Payment) => Promise<Result<null, ChainUnclear | PaymentFails>>;
  send: (payment: Payment) => Promise<Result<null, ChainUnclear | PaymentFails>>;
};

/** How long a request may wait for nodes: even with the chain out of reach it is answered within 3 s. */
const chainWaitMs = 2_700;

export const chainDeadline = (): Deadline => deadlineIn(chainWaitMs);

/** The chain's answer if it comes before the deadline, else "unclear". */
export async function beforeDeadline<Value, Failure>(
  { leftMs }: Deadline,
  call: Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | ChainUnclear>> {
  const answer = await withTimeout(call, leftMs());
  return answer ?? fail({ kind: "chain_unclear", why: "the chain took too long" });
}

/** Whether the chain knows a transaction, at any commitment. It is asked in two ways, because nodes lag and forget. */
export async function isOnChain(
  chain: Chain,
  txSignature: string,
): Promise<Result<boolean, ChainUnclear>> {
  const [sighting, landed] = await Promise.all([
    chain.known([txSignature]),
    chain.landed(txSignature),
  ]);
  if (!sighting.ok) return sighting;
  if (!landed.ok) return landed;
  return ok(sighting.value[0] === true || landed.value !== null);
}
