import type { Commitment, Landed } from "#content/contract/transfer.ts";
import type { Result } from "#content/contract/result.ts";
import type { PaymentFacts } from "#content/donation/checks.ts";

/** No RPC endpoint gave a clear answer in time: nothing is known, least of all that no money has moved. */
export type ChainUnclear = { kind: "chain_unclear"; why: string };

/** A signed payment that a client handed in, taken apart before anyone broadcasts it. */
export type Payment = PaymentFacts & {
  /** Base58; the donor's signature is the first one, unless the sponsor's is. Null while the sponsor's is missing. */
  tx_signature: string | null;
  memos: readonly string[];
  blockhash: string;
  /** The whole transaction as it came. */
  bytes: Uint8Array;
};

/** The outcome of a signature. */
export type SignatureState =
  | { state: "landed"; commitment: Commitment; failed: boolean }
  | { state: "unknown" };

/** The chain as donations need it. Only files in api/chain know which libraries answer. Nothing here throws. */
export type Chain = {
  readonly cluster: "mainnet" | "devnet" | "local";
  /** Name in x402 v1: solana, solana-devnet. */
  readonly network: "solana" | "solana-devnet";
  /** CAIP-2: "solana:" and the first 32 characters of the genesis hash. */
  readonly caip2: string;
  /** The token that counts as USDC. */
  readonly mint: string;
  /** Account that pays network fees for donors, null without one. */
  readonly sponsor: string | null;
  /** The token account of a wallet for the mint. The wallet is a valid address. */
  tokenAccountOf(wallet: string): string;
  /** Whether that account exists on chain. Answers are cached for a minute. */
  canReceive(wallet: string): Promise<Result<boolean, ChainUnclear>>;
  /** The facts of a transaction; null while the chain does not know it at the asked commitment. */
  landed(txSignature: string): Promise<Result<Landed | null, ChainUnclear>>;
  /** Takes a base64 transaction apart. Asks no node. */
  readPayment(base64: string): Result<Payment, { kind: "payment_malformed"; why: string }>;
  /**
   * Adds the sponsor's signature. The caller has checked the payment; this refuses one whose fee payer is another, and
   * one in which an instruction so much as names the sponsor.
   */
  sponsored(
    payment: Payment,
  ): Result<Payment & { tx_signature: string }, { kind: "not_sponsored"; why: string }>;
  /** Runs the payment without sending it. */
  simulate(
    payment: Payment,
  ): Promise<Result<null, ChainUnclear | { kind: "payment_fails"; why: string }>>;
  /**
   * Sends it, without waiting. Already known there counts as sent. `payment_fails` only when the one node that was
   * asked refused it: once an attempt ended without an answer, all is unclear.
   */
  send(
    payment: Payment,
  ): Promise<Result<null, ChainUnclear | { kind: "payment_fails"; why: string }>>;
  /** The outcome of signatures, in their order; searches the whole history. At most 256. */
  statesOf(txSignatures: readonly string[]): Promise<Result<SignatureState[], ChainUnclear>>;
  /** The newest signatures that touch an account (a token account, or a Solana Pay reference), newest first. */
  signaturesOf(
    account: string,
    options: { limit: number; until?: string },
  ): Promise<
    Result<
      { tx_signature: string; failed: boolean; memo: string | null; block_time: number | null }[],
      ChainUnclear
    >
  >;
  /**
   * Whether a blockhash can still land. False means: a transaction with it that is unknown, when asked after this,
   * never will; not to be asked within the first minute, because a node may lag behind the donor's.
   */
  stillValid(blockhash: string): Promise<Result<boolean, ChainUnclear>>;
};
