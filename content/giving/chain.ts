import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { TransactionFacts } from "#content/contract/transfer.ts";
import type { PaymentFacts } from "./payment-checks.ts";
import { type Deadline, deadlineIn, withTimeout } from "#content/runtime/timing.ts";
import type { PaymentRequirements } from "#content/contract/donation.ts";

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
  const [known, landed] = await Promise.all([
    chain.known([txSignature]),
    chain.landed(txSignature),
  ]);
  if (!known.ok) return known;
  if (!landed.ok) return landed;
  return ok(known.value[0] === true || landed.value !== null);
}
