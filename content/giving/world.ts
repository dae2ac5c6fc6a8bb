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

/** One look at the chain serves all who wait for a memo, for this long: less than the 3 s after which they ask again. */
const lookSharedMs = 2_500;
const looksMax = 10_000;

/** What all steps of a donation work with. */
export type GivingWorld = ReturnType<typeof givingWorld>;

/** The settings of the operator that giving follows. */
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
  // Requests of one turn of the event loop share a statement: preparing it costs more than what it finds.
  const targets = batcher((slugs: readonly string[]) => donateTargets(store, slugs, clock()));
  const seal: MemoSeal = { key: secrets.donationMemoKey, network: chain.caip2 };
  return {
    store,
    clock,
    chain,
    /** The nonprofit with this slug as it is now, withdrawn ones too; null when there is none. */
    targetOf: (slug: string): Promise<DonateTarget | null> => targets.ask(slug),
    seal,
    /** Memos that were just looked for. */
    looked: countedCache<true>(looksMax, {
      ttl: lookSharedMs,
      ttlResolution: 0,
      perf: { now: () => clock().getTime() },
    }),
    /** CAIP-2 id under which the chain is offered to x402 clients of version 2: one that they know. */
    offeredNetwork: offeredCaip2Of(chain.cluster, chain.caip2),
    /** Where the local chain listens, for those who try a gift; null on every other network. */
    localRpcUrl: chain.cluster === "local" ? (config.solanaRpcUrls[0] ?? null) : null,
    /** Without a trailing slash. */
    baseUrl: config.baseUrl,
    /** From here on a landed transfer counts. */
    commitment: config.commitment,
    /** A gift of more than this counts only when it is finalized. */
    finalizedAbove: config.finalizedAbove,
    /** How old a transfer that does not carry our memo may be. */
    windowMs: config.donationWindowMs,
    /** The sponsor pays fees for donations from this amount on, where there is an account to pay into. */
    sponsoredMin: config.sponsoredMin,
    sponsorBudget: config.sponsorBudget,
    sponsorship: openSponsorship({ store, clock, chain, budget: config.sponsorBudget }),
    /** Waits; tests let it pass quickly. */
    pause: (ms: number): Promise<void> => Bun.sleep(ms),
  };
}

const refreshEveryMs = 10_000;

/**
 * What is known of the sponsor's money without asking: a demand for payment must not wait for it. Asked again in the
 * background, at most every 10 s while demands come. What counts is counted in the store when a payment is claimed.
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
  if (chain.sponsor !== null) look(); // So that the first demand knows.
  return {
    /** Why the sponsor may not be offered for a gift to this nonprofit; null where it may. */
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

/** No RPC endpoint gave a clear answer in time: nothing is known, least of all that no money has moved. */
export type ChainUnclear = { kind: "chain_unclear"; why: string };

/** The chain ran it, or a node judged it, and it moves no money. */
export type PaymentFails = { kind: "payment_fails"; why: string };

/** A signed payment that a client handed in, taken apart before anyone broadcasts it. */
export type Payment = PaymentFacts & {
  /** Base58; the donor's signature is the first one, unless the sponsor's is. Null while the sponsor's is missing. */
  tx_signature: string | null;
  memos: readonly string[];
  blockhash: string;
  /** The whole transaction as it came. */
  bytes: Uint8Array;
};

/** A payment that is not made yet: `references` are accounts by which it is found. */
export type UnsignedPayment = { to: string; amount: bigint; memo: string; references: string[] };

/** The sponsor does not sign it. */
export type NotSponsored = { kind: "not_sponsored"; why: string };

/** A payment with every signature it needs. */
export type SignedPayment = Payment & { tx_signature: string };

type Answer<Value> = Promise<Result<Value, ChainUnclear>>;

/**
 * The network on which gifts are made, as the verbs of giving need it. Each call ends with yes, no or "unclear": what no
 * node told clearly is never taken for a no. Nothing in it throws.
 */
export type Chain = {
  cluster: PaymentRequirements["cluster"];
  network: "solana" | "solana-devnet";
  caip2: string;
  /** The token that counts as USDC. */
  mint: string;
  /** Account that pays network fees for donors, null without one. */
  sponsor: string | null;
  /** Why no node answered, null when one did. */
  health: () => Promise<{ why: string | null }>;
  /** The token account of a wallet, which is a valid address. */
  tokenAccountOf: (wallet: string) => string;
  /** Whether that account is there. */
  canReceive: (wallet: string) => Answer<boolean>;
  /** Lamports of an account, 0 for one that is not there. */
  balanceOf: (address: string) => Answer<number>;
  /** The facts of a transaction; null while the chain does not know it at this commitment. */
  landed: (txSignature: string, at?: "confirmed" | "finalized") => Answer<TransactionFacts | null>;
  /** Whether the chain knows signatures, in their order; at most 256. */
  known: (txSignatures: readonly string[]) => Answer<boolean[]>;
  /** Whether a transaction that was seen at a slot is on the chain no more. */
  vanished: (txSignature: string, slot: number) => Answer<boolean>;
  /** The newest signatures that name an account, without those that failed. */
  signaturesOf: (account: string, limit: number) => Answer<string[]>;
  /** Whether a transaction with this blockhash can still land. */
  stillValid: (blockhash: string) => Answer<boolean>;
  /** Takes a base64 transaction apart. Asks no node. */
  readPayment: (text: string) => Result<Payment, { kind: "payment_malformed"; why: string }>;
  /** Adds the sponsor's signature to a payment that the caller has checked. */
  sponsored: (payment: Payment) => Result<SignedPayment, NotSponsored>;
  /** A payment that a donor's wallet has yet to sign, base64. */
  unsigned: (donor: string, payment: UnsignedPayment) => Answer<string>;
  simulate: (payment: Payment) => Promise<Result<null, ChainUnclear | PaymentFails>>;
  send: (payment: Payment) => Promise<Result<null, ChainUnclear | PaymentFails>>;
};

/** While the chain is out of reach, a request is answered within 3 s: this is what it may spend waiting for nodes. */
const chainWaitMs = 2_700;

export const chainDeadline = (): Deadline => deadlineIn(chainWaitMs);

/** What the chain answers before the deadline; after it nothing is known. */
export async function beforeDeadline<Value, Failure>(
  { leftMs }: Deadline,
  call: Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | ChainUnclear>> {
  const answer = await withTimeout(call, leftMs());
  return answer ?? fail({ kind: "chain_unclear", why: "the chain took too long" });
}

/** Whether the chain knows a transaction, at any commitment. Asks in two ways, because nodes lag and forget. */
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
