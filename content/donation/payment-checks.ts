import { fail, ok, type Result } from "#content/contract/result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";

/** What is looked at of a signed payment that nobody has broadcast yet. */
export type PaymentFacts = {
  fee_payer: string;
  signers: readonly string[];
  unsigned: readonly string[];
  badly_signed: readonly string[];
  compute_units: number | null;
  /** Millionths of a lamport for each compute unit. */
  compute_unit_price: bigint | null;
  /** A plain transfer names neither mint nor decimals: then the account that it pays says them. */
  transfer: {
    source: string;
    destination: string;
    mint: string | null;
    authority: string;
    amount: bigint;
    decimals: number | null;
  } | null;
  other_programs: readonly string[];
  uses_lookup_tables: boolean;
};

/** What the payment must be. */
export type PaymentDue = {
  amount: MicroUsdc;
  mint: string;
  recipient: string;
  /** Token account of the recipient. */
  destination: string;
  /** Account that pays network fees for donors, null without one. */
  sponsor: string | null;
  /** Token account of the sponsor, so that nobody makes it pay with more than fees. */
  sponsorTokenAccount: string | null;
  /** The sponsor pays fees for donations from this amount on. */
  sponsoredMin: MicroUsdc;
};

const usdcDecimals = 6;
const signersMax = 2;
/** A transfer with a memo takes about 30,000; more would only raise the fee. */
export const computeUnitsMax = 200_000;
/** Beside 5,000 lamports a signature. A price is per compute unit, so the bound is on their product. */
export const priorityFeeLamportsMax = 10_000n;

/**
 * What is checked before anything is signed or sent for a donor. The first check that fails names the refusal; no money
 * has moved by then. Those from `other_instructions` on guard the sponsor. Source: facts on x402, "Sponsor safety".
 */
export const paymentChecks = {
  hidden_accounts: (paid: PaymentFacts) => !paid.uses_lookup_tables,
  no_transfer: (paid: PaymentFacts) => paid.transfer !== null,
  wrong_token: ({ transfer }: PaymentFacts, due: PaymentDue) =>
    (transfer?.mint ?? due.mint) === due.mint &&
    (transfer?.decimals ?? usdcDecimals) === usdcDecimals,
  wrong_recipient: ({ transfer }: PaymentFacts, due: PaymentDue) =>
    transfer?.destination === due.destination,
  wrong_amount: ({ transfer }: PaymentFacts, due: PaymentDue) => transfer?.amount === due.amount,
  self_donation: ({ transfer }: PaymentFacts, due: PaymentDue) =>
    transfer?.authority !== due.recipient,
  wrong_fee_payer: (paid: PaymentFacts, due: PaymentDue) =>
    isSponsored(paid, due) || paid.fee_payer === paid.transfer?.authority,
  extra_signer: ({ signers, fee_payer, transfer }: PaymentFacts) =>
    signers.length <= signersMax &&
    signers.every((one) => one === fee_payer || one === transfer?.authority),
  bad_signature: ({ badly_signed }: PaymentFacts) => badly_signed.length === 0,
  not_signed: (paid: PaymentFacts, due: PaymentDue) =>
    paid.unsigned.every((one) => isSponsored(paid, due) && one === due.sponsor),
  other_instructions: (paid: PaymentFacts, due: PaymentDue) =>
    !isSponsored(paid, due) || paid.other_programs.length === 0,
  sponsor_spends: ({ transfer }: PaymentFacts, due: PaymentDue) =>
    due.sponsor === null ||
    (transfer?.authority !== due.sponsor && transfer?.source !== due.sponsorTokenAccount),
  sponsored_too_little: (paid: PaymentFacts, due: PaymentDue) =>
    !isSponsored(paid, due) || due.amount >= due.sponsoredMin,
  fee_too_high: (paid: PaymentFacts, due: PaymentDue) =>
    !isSponsored(paid, due) || isFeeBounded(paid),
} as const;

export type PaymentRefusal = { kind: keyof typeof paymentChecks };

/** Judges a signed payment before it is broadcast. */
export function judgePayment(paid: PaymentFacts, due: PaymentDue): Result<null, PaymentRefusal> {
  for (const [kind, holds] of Object.entries(paymentChecks)) {
    if (!holds(paid, due)) return fail({ kind: kind as PaymentRefusal["kind"] });
  }
  return ok(null);
}

/** The checks that hold a payment against what was asked for. All others say what none of ours may ever be. */
const aboutDue: ReadonlySet<string> = new Set<PaymentRefusal["kind"]>([
  "wrong_token",
  "wrong_recipient",
  "wrong_amount",
  "self_donation",
  "sponsored_too_little",
]);

/** Whether a payment may have been taken for another request: it is sound, and safe for the sponsor. */
export const isSound = (paid: PaymentFacts, due: PaymentDue): boolean =>
  Object.entries(paymentChecks).every(([kind, holds]) => aboutDue.has(kind) || holds(paid, due));

const isSponsored = ({ fee_payer }: PaymentFacts, { sponsor }: PaymentDue): boolean =>
  fee_payer === sponsor;

/** Without a limit of its own a transaction may take far more units than it needs, each at its price. */
function isFeeBounded({ compute_units, compute_unit_price }: PaymentFacts): boolean {
  if (compute_units !== null && compute_units > computeUnitsMax) return false;
  if (compute_unit_price === null || compute_unit_price === 0n) return true;
  if (compute_units === null) return false;
  const lamports = (BigInt(compute_units) * compute_unit_price) / 1_000_000n;
  return lamports <= priorityFeeLamportsMax;
}
