import bs58 from "bs58";
import { z } from "zod";
import { type Result, ok } from "#content/contract/base/result.ts";
import type {
  Commitment,
  Credit,
  MicroUsdc,
  TransactionFacts,
} from "#content/contract/transfer.ts";
import { memoPrograms, programs, tokenAccount } from "./transfer.ts";
import { type Common, type Rpc, TransactionError, askFor, same, valueOf } from "./rpc.ts";
import type { ChainUnclear } from "#content/giving/world.ts";
import { PublicKey } from "@solana/web3.js";
import { countedCache } from "#content/runtime/cache.ts";
import { singleFlight } from "#content/runtime/concurrency.ts";

/** Questions to the chain about signatures, blockhashes and accounts. */
export function lookups(rpc: Rpc) {
  const validAt = (blockhash: string, commitment: string) =>
    askFor(rpc, "isBlockhashValid", [blockhash, { commitment }], Valid);
  return {
    /** Whether each signature is known. Searches the whole history. */
    known: (txSignatures: readonly string[]) =>
      askFor(
        rpc,
        "getSignatureStatuses",
        [txSignatures, wholeHistory],
        valueOf(z.array(Status).length(txSignatures.length)).transform((statuses) =>
          statuses.map((status) => status !== null),
        ),
      ),
    balanceOf: (address: string) =>
      askFor(rpc, "getBalance", [address, { commitment: "confirmed" }], Lamports),
    /**
     * Whether a transaction seen at a slot is no longer on the chain. True only if two nodes hold the blocks of that slot,
     * are well past it and do not know the transaction: a node without its old history proves nothing.
     */
    vanished: async (txSignature: string, slot: number): Promise<Result<boolean, ChainUnclear>> => {
      // One node may show what another does not show yet. That is no contradiction, so it counts as null.
      const agreed = (method: string, params: unknown[], shape: z.ZodType<boolean>) =>
        askFor(
          rpc,
          method,
          params,
          shape.transform((sign) => sign || null),
          same<true | null>,
        );
      const reach = (holds: (slot: number) => boolean) => z.int().nonnegative().transform(holds);
      const signs = await Promise.all([
        agreed("getSignatureStatuses", [[txSignature], wholeHistory], Unknown),
        agreed(
          "getFirstAvailableBlock",
          [],
          reach((first) => first <= slot),
        ),
        agreed(
          "getSlot",
          [{ commitment: "finalized" }],
          reach((now) => now > slot + outlivedSlots),
        ),
      ]);
      const unclear = signs.find((sign) => !sign.ok);
      return unclear ?? ok(signs.every((sign) => sign.ok && sign.value === true));
    },
    /**
     * The newest signatures that touch an account (for example a Solana Pay reference), without those that failed. Of the
     * answers of two nodes the longer one counts.
     */
    signaturesOf: (account: string, limit: number) =>
      askFor(
        rpc,
        "getSignaturesForAddress",
        [account, { limit, commitment: "confirmed" }],
        Signatures,
        (longest, other) => (longest.length > other.length ? longest : other),
      ),
    /**
     * Whether a transaction with this blockhash can still land. After false, a transaction that is still unknown never
     * will. Do not ask in the first minute: a node may lag behind the donor's.
     */
    stillValid: async (blockhash: string): Promise<Result<boolean, ChainUnclear>> => {
      // The newest block tells about young hashes; an old one is gone for good once the finalized block outlived it.
      const [processed, finalized] = await Promise.all([
        validAt(blockhash, "processed"),
        validAt(blockhash, "finalized"),
      ]);
      if (!processed.ok || !finalized.ok) return processed.ok ? finalized : processed;
      return ok(processed.value || finalized.value);
    },
  };
}

const wholeHistory = { searchTransactionHistory: true };

const Valid = valueOf(z.boolean());

const Status = z.looseObject({ err: TransactionError }).nullable();

const Lamports = valueOf(z.int().nonnegative());

const Unknown = valueOf(z.array(Status).length(1)).transform(([status]) => status === null);

/** A blockhash is valid for 150 slots, and a block is final after 32. */
const outlivedSlots = 182;

const Signatures = z
  .array(z.object({ signature: z.string(), err: TransactionError }))
  .transform((signatures) =>
    signatures.filter(({ err }) => err === null).map(({ signature }) => signature),
  );

/**
 * The facts of a transaction at this commitment or better, once two nodes agree on them; null while they do not know it
 * there. The answer of a node that lacks the transaction's balances is unclear.
 */
export function findLanded(
  rpc: Rpc,
  txSignature: string,
  commitment: Exclude<Commitment, "processed">,
): Promise<Result<TransactionFacts | null, ChainUnclear>> {
  const options = { commitment, encoding: "jsonParsed", maxSupportedTransactionVersion: 0 };
  // A `meta` of null is unclear, too: the node knows the transaction but not its effect.
  const shape = Transaction.refine(
    ({ transaction }) => transaction.signatures[0] === txSignature,
    "another transaction",
  )
    .transform((transaction) => landedFrom(transaction, commitment))
    .nullable();
  return askFor(rpc, "getTransaction", [txSignature, options], shape, commonOf);
}

/** Answers of two nodes have to be equal, except for the block time, which is null when one does not know it. */
const commonOf: Common<TransactionFacts | null> = (answer, other) => {
  if (answer === null || other === null) return answer === other ? null : undefined;
  if (answer.block_time === null || other.block_time === null) {
    [answer, other] = [answer, other].map((facts) => ({ ...facts, block_time: null })) as [
      TransactionFacts,
      TransactionFacts,
    ];
  }
  return textOfLanded(answer) === textOfLanded(other) ? answer : undefined;
};

const textOfLanded = (landed: TransactionFacts): string =>
  JSON.stringify(landed, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );

const Amount = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);

const Supply = valueOf(z.object({ amount: Amount }));

/**
 * Whether so much of a token exists, according to two nodes. They need not agree on the supply, which changes with every
 * slot. Reveals invented transfers.
 */
export const canExist = (rpc: Rpc, mint: string, amount: bigint) =>
  askFor(
    rpc,
    "getTokenSupply",
    [mint],
    Supply.transform((supply) => supply.amount >= amount),
    same,
  );

const Balance = z.object({
  accountIndex: z.int().nonnegative(),
  mint: z.string(),
  owner: z.string(),
  // `uiAmount` beside it is a float and never read.
  uiTokenAmount: z.object({ amount: Amount }),
});
type Balance = z.infer<typeof Balance>;

/** `parsed` is a memo's text; for other programs it is an object. `data` (base58) is present when nothing was parsed. */
const Instruction = z.object({
  programId: z.string(),
  parsed: z.unknown().optional(),
  data: z.string().optional(),
});
type Instruction = z.infer<typeof Instruction>;

const Transaction = z.object({
  slot: z.int().nonnegative(),
  blockTime: z.int().nullish(),
  meta: z.object({
    err: TransactionError,
    preTokenBalances: z.array(Balance),
    postTokenBalances: z.array(Balance),
    innerInstructions: z.array(z.object({ instructions: z.array(Instruction) })).nullish(),
  }),
  transaction: z.object({
    signatures: z.array(z.string()).min(1),
    message: z.object({
      accountKeys: z.array(z.object({ pubkey: z.string(), signer: z.boolean() })),
      instructions: z.array(Instruction),
    }),
  }),
});
type Transaction = z.infer<typeof Transaction>;

function landedFrom(record: Transaction, commitment: Commitment): TransactionFacts {
  const { meta, transaction } = record;
  const failed = meta.err !== null;
  return {
    tx_signature: transaction.signatures[0] ?? "",
    slot: record.slot,
    block_time: record.blockTime ?? null,
    commitment,
    failed,
    credits: failed ? [] : creditsOf(record),
    signers: signersOf(record),
    memos: memosOf(record),
  };
}

/** The gain of each token account, computed from balances alone, because they include the effects of inner instructions. */
function creditsOf({ meta, transaction }: Transaction): Credit[] {
  const before = amountsOf(meta.preTokenBalances);
  const after = amountsOf(meta.postTokenBalances);
  // An account that was emptied and closed has no balance afterwards.
  const losers = meta.preTokenBalances.filter(
    (balance) => (after.get(keyOf(balance)) ?? 0n) < amountOf(balance),
  );
  return meta.postTokenBalances.flatMap((balance) => {
    const gain = amountOf(balance) - (before.get(keyOf(balance)) ?? 0n);
    const destination = transaction.message.accountKeys[balance.accountIndex]?.pubkey;
    if (gain <= 0n || destination === undefined) return [];
    const { mint, owner } = balance;
    const payers = losers.filter((loser) => loser.mint === mint);
    const [payer] = payers.length === 1 ? payers : [];
    const source = payer && transaction.message.accountKeys[payer.accountIndex]?.pubkey;
    return [
      {
        destination,
        owner,
        mint,
        amount_micro_usdc: gain as MicroUsdc,
        // An owner who also lost some has moved its own money, or sold something.
        donor: losers.some((loser) => loser.owner === owner) ? owner : onlyOwner(payers),
        source: source ?? null,
      },
    ];
  });
}

const amountsOf = (balances: readonly Balance[]) =>
  new Map(balances.map((balance) => [keyOf(balance), amountOf(balance)]));

/** The key omits the owner, because an account that only changes hands gains nothing. */
const keyOf = ({ accountIndex, mint }: Balance) => `${accountIndex} ${mint}`;

const amountOf = ({ uiTokenAmount }: Balance): bigint => uiTokenAmount.amount;

function onlyOwner(losers: readonly Balance[]): string | null {
  const owners = new Set(losers.map(({ owner }) => owner));
  const [only] = owners;
  return owners.size === 1 && only !== undefined ? only : null;
}

const signersOf = ({ transaction }: Transaction): string[] =>
  transaction.message.accountKeys.filter(({ signer }) => signer).map(({ pubkey }) => pubkey);

function memosOf({ meta, transaction }: Transaction): string[] {
  const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
  return [...transaction.message.instructions, ...inner]
    .filter(({ programId }) => memoPrograms.has(programId))
    .map(textOf);
}

function textOf({ parsed, data }: Instruction): string {
  if (typeof parsed === "string") return parsed;
  return new TextDecoder().decode(bs58.decodeUnsafe(data ?? "") ?? new Uint8Array());
}

const cachedMax = 10_000;
/** An empty account can be closed, and anyone can create one at any moment. */
const knownMs = { there: 60_000, absent: 5_000 } as const;

/**
 * The token accounts of wallets for one mint. Caches their addresses, because deriving one takes 0.2 ms, and whether they
 * can receive.
 */
export function openTokenAccounts(rpc: Rpc, mint: string, clockMs: () => number) {
  const mintKey = new PublicKey(mint);
  const addresses = countedCache<string>(cachedMax, {
    memoMethod: (wallet) => tokenAccount(new PublicKey(wallet), mintKey).toBase58(),
  });
  const answers = countedCache<boolean>(cachedMax, {
    ttl: knownMs.there,
    ttlResolution: 0,
    perf: { now: clockMs },
  });
  const ask = async (wallet: string): Promise<Result<boolean, ChainUnclear>> => {
    const params = [
      addresses.memo(wallet),
      { encoding: "base64", commitment: "confirmed", dataSlice: { offset: 0, length: 109 } },
    ];
    const account = await askFor(rpc, "getAccountInfo", params, Account);
    if (!account.ok) return account;
    const there = receives(account.value, { wallet, mint });
    answers.set(wallet, there, { ttl: knownMs[there ? "there" : "absent"] });
    return ok(there);
  };
  return {
    tokenAccountOf: (wallet: string): string => addresses.memo(wallet),
    /** Whether the wallet's account exists and can receive. A yes is cached for a minute, a no for 5 s. */
    canReceive: (wallet: string): Promise<Result<boolean, ChainUnclear>> => {
      const there = answers.get(wallet);
      if (there !== undefined) return Promise.resolve(ok(there));
      return singleFlight(answers, wallet, () => ask(wallet));
    },
  };
}

/** Offsets of mint, owner and state (1: usable, 2: frozen) in a token account. Source: SPL Token, Account. */
const layout = { mint: [0, 32], owner: [32, 64], state: 108 } as const;
const usable = 1;

/** The bytes of a token account; null for another account or none. Truncated data is refused as no answer. */
const Account = valueOf(
  z.object({ owner: z.string(), data: z.tuple([z.base64(), z.literal("base64")]) }).nullable(),
)
  .transform((account) =>
    account?.owner === programs.token.toBase58() ? Buffer.from(account.data[0], "base64") : null,
  )
  .refine((data) => data === null || data.length > layout.state);

function receives(data: Buffer | null, { wallet, mint }: { wallet: string; mint: string }) {
  if (data === null) return false;
  const at = (part: readonly [number, number]) => new PublicKey(data.subarray(...part)).toBase58();
  // A wallet can give its token account to another owner; payments into it would then be lost to the wallet.
  return at(layout.mint) === mint && at(layout.owner) === wallet && data[layout.state] === usable;
}
