import { usdcDecimals } from "#content/contract/base/money.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type {
  Commitment,
  Credit,
  TransactionFacts,
  MicroUsdc,
} from "#content/contract/transfer.ts";
import { asksToPay, type DonationMemo, type MemoSeal, readMemo } from "./memo.ts";

/** The facts of a signed payment that has not been broadcast, as far as they are checked. */
export type PaymentFacts = {
  fee_payer: string;
  /** Every account whose signature the transaction requires, the fee payer first. */
  signers: readonly string[];
  /** The signers whose signature is missing. */
  unsigned: readonly string[];
  /** The signers whose signature does not fit the message. */
  badly_signed: readonly string[];
  compute_units: number | null;
  /** In millionths of a lamport per compute unit. */
  compute_unit_price: bigint | null;
  /**
   * The only token transfer of the classic program; null if there is none or several. A plain transfer names neither mint
   * nor decimals; the account that it pays determines them.
   */
  transfer: {
    source: string;
    destination: string;
    mint: string | null;
    authority: string;
    amount: bigint;
    decimals: number | null;
  } | null;
  /** Programs of all instructions but the transfer, memos and compute limits, in order. */
  other_programs: readonly string[];
  /** Whether the transaction takes addresses from lookup tables, where they are not visible. */
  uses_lookup_tables: boolean;
};

/** The terms that a payment must meet. */
export type PaymentDue = {
  amount: MicroUsdc;
  mint: string;
  recipient: string;
  /** Token account of the recipient. */
  destination: string;
  /** Account that pays network fees for donors; null when there is none. */
  sponsor: string | null;
  /** Token account of the sponsor; the sponsor must pay nothing but fees. */
  sponsorTokenAccount: string | null;
  /** The lowest amount for which the sponsor pays the fee. */
  sponsoredMin: MicroUsdc;
};

const signersMax = 2;
/** A transfer with a memo takes about 30,000; more would only raise the fee. */
export const computeUnitsMax = 200_000;
/** In addition to 5,000 lamports per signature. The price is per compute unit, so the bound is on the product. */
export const priorityFeeLamportsMax = 10_000n;

/**
 * Phantom and Solflare add up to two instructions of Lighthouse, which fail if a balance is not as expected. They cannot
 * take anything from the sponsor, whom no instruction may name. Source: x402, "exact" on SVM.
 */
const lighthouse = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95";
const walletChecksMax = 2;

/** Each check returns true if it passes; its key is the code of the refusal. */
type Checks<Facts, Terms> = Readonly<Record<string, (facts: Facts, terms: Terms) => boolean>>;

/**
 * The checks before anything is signed or sent for a donor. The first that fails names the refusal; no money has moved by
 * then. The checks from `other_instructions` on protect the sponsor.
 */
export const paymentChecks = {
  hidden_accounts: (paid) => !paid.uses_lookup_tables,
  no_transfer: (paid) => paid.transfer !== null,
  wrong_token: ({ transfer }, due) =>
    (transfer?.mint ?? due.mint) === due.mint &&
    (transfer?.decimals ?? usdcDecimals) === usdcDecimals,
  wrong_recipient: ({ transfer }, due) => transfer?.destination === due.destination,
  wrong_amount: ({ transfer }, due) => transfer?.amount === due.amount,
  self_donation: ({ transfer }, due) => transfer?.authority !== due.recipient,
  wrong_fee_payer: (paid, due) =>
    isSponsored(paid, due) || paid.fee_payer === paid.transfer?.authority,
  extra_signer: ({ signers, fee_payer, transfer }) =>
    signers.length <= signersMax &&
    signers.every((signer) => signer === fee_payer || signer === transfer?.authority),
  bad_signature: ({ badly_signed }) => badly_signed.length === 0,
  not_signed: (paid, due) =>
    paid.unsigned.every((signer) => isSponsored(paid, due) && signer === due.sponsor),
  other_instructions: (paid, due) =>
    !isSponsored(paid, due) ||
    (paid.other_programs.length <= walletChecksMax &&
      paid.other_programs.every((program) => program === lighthouse)),
  sponsor_spends: ({ transfer }, due) =>
    due.sponsor === null ||
    (transfer?.authority !== due.sponsor && transfer?.source !== due.sponsorTokenAccount),
  sponsored_too_little: (paid, due) => !isSponsored(paid, due) || due.amount >= due.sponsoredMin,
  fee_too_high: (paid, due) => !isSponsored(paid, due) || isFeeBounded(paid),
} as const satisfies Checks<PaymentFacts, PaymentDue>;

export type PaymentRefusal = { kind: keyof typeof paymentChecks };

/** Judges a signed payment before it is broadcast. */
export function judgePayment(paid: PaymentFacts, due: PaymentDue): Result<null, PaymentRefusal> {
  for (const [kind, holds] of Object.entries(paymentChecks)) {
    if (!holds(paid, due)) return fail({ kind: kind as PaymentRefusal["kind"] });
  }
  return ok(null);
}

/** The checks that compare a payment with its terms. All others reject what none of our payments may contain. */
const aboutDue: ReadonlySet<string> = new Set<PaymentRefusal["kind"]>([
  "wrong_token",
  "wrong_recipient",
  "wrong_amount",
  "self_donation",
  "sponsored_too_little",
]);

/** Whether an earlier request may have accepted the payment: it is sound and safe for the sponsor, whatever the terms. */
export const isSound = (paid: PaymentFacts, due: PaymentDue): boolean =>
  Object.entries(paymentChecks).every(([kind, holds]) => aboutDue.has(kind) || holds(paid, due));

const isSponsored = ({ fee_payer }: PaymentFacts, { sponsor }: PaymentDue): boolean =>
  fee_payer === sponsor;

/** Without a limit of its own, a transaction may use far more compute units than it needs, each at its price. */
function isFeeBounded({ compute_units, compute_unit_price }: PaymentFacts): boolean {
  if (compute_units !== null && compute_units > computeUnitsMax) return false;
  if (compute_unit_price === null || compute_unit_price === 0n) return true;
  if (compute_units === null) return false;
  const lamports = (BigInt(compute_units) * compute_unit_price) / 1_000_000n;
  return lamports <= priorityFeeLamportsMax;
}

/** The terms that a landed transaction must meet. */
export type Due = {
  nonprofit_id: number;
  /** The nonprofit's current wallet; null if it has none: then only a memo for an earlier wallet counts. */
  wallet: string | null;
  /** The wallet when the proof was first handed in; null when it is not known. */
  wallet_then: string | null;
  /** The amount in the request that brought the proof; counts only for a transfer without our memo. */
  amount: MicroUsdc;
  /** When the proof was first handed in, in milliseconds since 1970. */
  named_at: number;
  /** The greatest age, at that time, of a transfer without our memo. */
  windowMs: number;
  commitment: Commitment;
  /** A larger amount counts only when it is finalized. */
  finalized_above: MicroUsdc;
  mint: string;
  tokenAccountOf: (wallet: string) => string;
  seal: MemoSeal;
};

/** A transfer that counts as a gift. */
export type Gift = {
  credit: Credit;
  /** The memo that asked for it; null for a transfer that no request of ours asked for. */
  memo: string | null;
};

/** The transaction, and what its memos mean for this nonprofit. */
type Claim = {
  landed: TransactionFacts;
  /** What the nonprofit's token account was credited; null for nothing. */
  credit: Credit | null;
  /** Our memo that names this nonprofit and the wallet that was paid. */
  memo: string | null;
  /** Whether a memo names another nonprofit, and this transaction pays it nothing. */
  foreign: boolean;
};

/** How long after its change a former wallet still counts, for payments that were already on their way. */
const formerWalletMs = 24 * 3_600_000;

/**
 * The checks that make a landed transfer a gift to this nonprofit. The first that fails names the refusal. In every case
 * money has moved or was lost on the way, so no refusal may lead to another demand for payment.
 */
export const proofChecks = {
  not_confirmed: ({ landed, credit }, due) =>
    weight[landed.commitment] >= weight[isLarge(credit, due) ? "finalized" : due.commitment],
  failed_on_chain: ({ landed }) => !landed.failed,
  wrong_token: ({ landed, credit }, due) => credit !== null || !paysOtherToken(landed, due),
  wrong_recipient: ({ credit }) => credit !== null,
  foreign_memo: ({ foreign }) => !foreign,
  // A recipient's wallet that signs may be moving its own money: out of a program's account, or by a sale.
  self_donation: ({ credit, landed }) =>
    credit === null || (credit.donor !== credit.owner && !landed.signers.includes(credit.owner)),
  age_unknown: ({ landed, memo }) => memo !== null || landed.block_time !== null,
  too_old: ({ landed, memo }, due) =>
    memo !== null ||
    landed.block_time === null ||
    landed.block_time * 1_000 >= due.named_at - due.windowMs,
  underpaid: ({ credit, memo }, due) =>
    memo !== null || credit === null || credit.amount_micro_usdc >= due.amount,
} as const satisfies Checks<Claim, Due>;

export type ProofRefusal = { kind: keyof typeof proofChecks };

/** Judges a landed transaction. The amount of the gift is what the account gained, whatever was asked for. */
export function judgeProof(landed: TransactionFacts, due: Due): Result<Gift, ProofRefusal> {
  const claim = claimOf(landed, due);
  for (const [kind, holds] of Object.entries(proofChecks)) {
    if (!holds(claim, due)) return fail({ kind: kind as ProofRefusal["kind"] });
  }
  const { credit, memo } = claim;
  return credit === null ? fail({ kind: "wrong_recipient" }) : ok({ credit, memo });
}

const isLarge = (credit: Credit | null, { finalized_above }: Due): boolean =>
  credit !== null && credit.amount_micro_usdc > finalized_above;

const weight: Record<Commitment, number> = { processed: 0, confirmed: 1, finalized: 2 };

type Memo = DonationMemo & { text: string };

function claimOf(landed: TransactionFacts, due: Due): Claim {
  const memos = landed.memos.flatMap((text): Memo[] => {
    const memo = readMemo(text, due.seal);
    return memo === null ? [] : [{ ...memo, text }];
  });
  const credits = landed.credits.filter((credit) => countsAsUsdc(credit, due));
  const requests = (memo: Memo, { owner }: Credit) => asksToPay(memo.text, owner, due.seal);
  const ours = memos.filter(({ nonprofit_id }) => nonprofit_id === due.nonprofit_id);
  const credit =
    credits.find(({ owner }) => owner === due.wallet) ??
    credits.find(({ owner }) => owner === due.wallet_then && isYoung(due.named_at, landed)) ??
    credits.find((paid) =>
      ours.some((memo) => requests(memo, paid) && isYoung(memo.issued_at_s * 1_000, landed)),
    ) ??
    null;
  const memo = credit === null ? undefined : ours.find((ownMemo) => requests(ownMemo, credit));
  // One transaction may pay several nonprofits, each with a memo; their credits are counted separately.
  const foreign =
    memo === undefined &&
    memos.some(
      (other) =>
        other.nonprofit_id !== due.nonprofit_id &&
        !credits.some((paid) => paid !== credit && requests(other, paid)),
    );
  return { landed, credit, memo: memo?.text ?? null, foreign };
}

/** Whether a payment that began at an instant may still have been on its way when it landed. */
const isYoung = (beganMs: number, { block_time }: TransactionFacts): boolean =>
  block_time !== null && block_time * 1_000 - beganMs <= formerWalletMs;

const countsAsUsdc = ({ mint, destination, owner, amount_micro_usdc }: Credit, due: Due): boolean =>
  mint === due.mint && amount_micro_usdc > 0n && destination === due.tokenAccountOf(owner);

const paysOtherToken = ({ credits }: TransactionFacts, due: Due): boolean =>
  credits.some(({ mint, owner }) => owner === due.wallet && mint !== due.mint);
