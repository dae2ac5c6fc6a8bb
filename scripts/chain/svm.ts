import { Keypair, PublicKey, SystemProgram, type VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import {
  Account,
  FailedTransactionMetadata,
  LiteSvm,
  type TransactionMetadata,
} from "litesvm/dist/internal";
import { programs } from "#api/chain/transfer.ts";
import { usdcDecimals } from "#content/contract/base/money.ts";
import { networks } from "#content/giving/network.ts";

/** An account in the runtime. */
export type ChainAccount = {
  /** The program that owns it. */
  owner: string;
  lamports: number;
  executable: boolean;
  /** Length of the data. */
  bytes: number;
  /** Copied at each call, because programs are megabytes. */
  data(): Uint8Array;
};

/** The Solana runtime. It runs every transaction, without checking blockhashes or repetition. */
export type Svm = ReturnType<typeof openSvm>;

function openSvm() {
  const svm = new LiteSvm();
  svm.setBlockhashCheck(false);
  svm.setTransactionHistory(0n);
  const look = (address: string) => accountOf(svm.getAccount(bs58.decode(address)));
  // Each look-up of a program copies all of it, outside the reach of the garbage collector.
  const accounts = new Map<string, ChainAccount>();
  return {
    account: (address: string): ChainAccount | null => {
      const account = accounts.get(address) ?? look(address);
      if (account?.executable !== true || accounts.has(address)) return account;
      const data = () => look(address)?.data() ?? new Uint8Array();
      const program = { ...account, data };
      accounts.set(address, program);
      return program;
    },
    put: (address: string, owner: string, lamports: bigint, data: Uint8Array) =>
      svm.setAccount(
        bs58.decode(address),
        new Account(lamports, data, bs58.decode(owner), false, 0n),
      ),
    /** Copies a program to a second address. */
    copyProgram: (from: string, to: string) => {
      const program = svm.getAccount(bs58.decode(from));
      if (program !== null) svm.setAccount(bs58.decode(to), program);
    },
    run: (bytes: Uint8Array): Outcome => outcomeOf(svm.sendVersionedTransaction(bytes)),
    simulate: (bytes: Uint8Array): Outcome => {
      const ran = svm.simulateVersionedTransaction(bytes);
      return outcomeOf(ran instanceof FailedTransactionMetadata ? ran : ran.meta());
    },
    /** Switches the check of signatures, which is on at first. */
    verify: (signatures: boolean) => svm.setSigverify(signatures),
    setTime: (slot: number, seconds: number) => {
      const clock = svm.getClock();
      clock.slot = BigInt(slot);
      clock.unixTimestamp = BigInt(seconds);
      svm.setClock(clock);
    },
    rentFor: (bytes: number) => Number(svm.minimumBalanceForRentExemption(BigInt(bytes))),
  };
}

/** Null also for an account without lamports, which no longer exists. */
function accountOf(account: Account | null): ChainAccount | null {
  if (account === null || account.lamports() === 0n) return null;
  let data: Uint8Array | null = null;
  const read = () => (data ??= account.data());
  return {
    owner: bs58.encode(account.owner()),
    lamports: Number(account.lamports()),
    executable: account.executable(),
    get bytes() {
      return read().length;
    },
    data: read,
  };
}

/** The result of running a transaction, in the terms of Solana's JSON-RPC. */
export type Outcome = ReturnType<typeof outcomeOf>;

/** A name, or a name with the details of the error. */
export type TransactionError = string | object;

function outcomeOf(ran: TransactionMetadata | FailedTransactionMetadata) {
  const failed = ran instanceof FailedTransactionMetadata;
  const meta = failed ? ran.meta() : ran;
  return {
    /** Null when it succeeded. */
    err: failed ? errorIn(ran.toString()) : null,
    units: Number(meta.computeUnitsConsumed()),
    logs: meta.logs(),
    inner: meta.innerInstructions().map((instructions) => instructions.map(innerOf)),
  };
}

/** A plain object, which can be stored; its data in base58. */
function innerOf(inner: ReturnType<TransactionMetadata["innerInstructions"]>[number][number]) {
  const compiled = inner.instruction();
  return {
    program: compiled.programIdIndex(),
    accounts: [...compiled.accounts()],
    data: bs58.encode(compiled.data()),
  };
}

/** litesvm returns error numbers; only the debug text has the names, which are those of the RPC. */
function errorIn(debug: string): TransactionError {
  const [, name = "UnknownError", number, inner, code, account] =
    /err: (\w+)(?:\((\d+)(?:, (\w+)(?:\((\d+))?)?| \{ account_index: (\d+))?/.exec(debug) ?? [];
  if (inner !== undefined) {
    return { [name]: [Number(number), inner === "Custom" ? { Custom: Number(code) } : inner] };
  }
  if (account !== undefined) return { [name]: { account_index: Number(account) } };
  return number === undefined ? name : { [name]: Number(number) };
}

/** All accounts of a transaction, in the order in which instructions count them. */
export type AccountKeys = { all: string[] };

/** Null for a transaction with lookup tables, which no one creates here. */
export function accountKeysOf({ message }: VersionedTransaction): AccountKeys | null {
  if (message.addressTableLookups.length > 0) return null;
  return { all: message.staticAccountKeys.map((key) => key.toBase58()) };
}

const lamportsPerSol = 1_000_000_000n;
const faucetSol = 1_000_000n;
const rentOfMint = 1_461_600n;

/** The chain before its first transaction: the Solana Program Library, a rich faucet and a mint of USDC. */
export function genesis(): Svm {
  const svm = openSvm();
  const system = SystemProgram.programId.toBase58();
  svm.put(faucetKeypair.publicKey.toBase58(), system, faucetSol * lamportsPerSol, new Uint8Array());
  // The runtime has no memo program of version 4; its predecessor accepts the same.
  svm.copyProgram(programs.memo.toBase58(), programs.memoV4.toBase58());
  svm.put(usdcMint.toBase58(), programs.token.toBase58(), rentOfMint, mintData());
  return svm;
}

/** Source: SPL Token, Mint: mint authority, supply, decimals, whether it is initialized, freeze authority. */
function mintData(): Uint8Array {
  const data = Buffer.alloc(82);
  data.writeUInt32LE(1, 0);
  data.set(faucetKeypair.publicKey.toBytes(), 4);
  data.writeUInt8(usdcDecimals, 44);
  data.writeUInt8(1, 45);
  return new Uint8Array(data);
}

/**
 * A keypair derived from words, the same on every machine. Anyone who reads the words has the key, so it is only for the
 * local chain, where money is worth nothing.
 */
function keypairOf(words: string): Keypair {
  const seed = new Uint8Array(32);
  new TextEncoder().encodeInto(words, seed);
  return Keypair.fromSeed(seed);
}

/** Holds the local chain's SOL, and may mint USDC. */
export const faucetKeypair = keypairOf("almoner local faucet");

/** The local chain's USDC, at devnet's address. No one needs its key, because the faucet may mint it. */
export const usdcMint = new PublicKey(networks.local.mint);

const tokenPrograms = new Set([programs.token.toBase58(), programs.token2022.toBase58()]);

/** Source: SPL Token, Account and Mint. Token-2022 begins alike and marks in byte 165 which of the two it is. */
const kinds = { mint: { bytes: 82, mark: 1 }, account: { bytes: 165, mark: 2 } } as const;
const markAt = kinds.account.bytes;

/** The data of an account of this kind in a token program; null for any other account. */
function bytesOf(account: ChainAccount | null, kind: keyof typeof kinds): Buffer | null {
  if (account === null || !tokenPrograms.has(account.owner)) return null;
  const data = account.data();
  const { bytes, mark } = kinds[kind];
  return data.length === bytes || data[markAt] === mark ? Buffer.from(data) : null;
}

const stateAt = 108;

/** The token account in an account's data; null for none. */
export function readTokenAccount(account: ChainAccount | null) {
  const bytes = bytesOf(account, "account");
  if (bytes === null || bytes[stateAt] === 0) return null;
  return {
    mint: bs58.encode(bytes.subarray(0, 32)),
    owner: bs58.encode(bytes.subarray(32, 64)),
    amount: bytes.readBigUInt64LE(64),
  };
}

/** The mint in an account's data; null for none. */
export function readMint(account: ChainAccount | null) {
  const bytes = bytesOf(account, "mint");
  return bytes && { supply: bytes.readBigUInt64LE(36), decimals: bytes[44] ?? 0 };
}

/** An amount in all forms of the RPC. */
export function uiTokenAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const text = part === "" ? whole : `${whole}.${part}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}

export type Balances = ReturnType<typeof balancesIn>;

/** Balances of accounts, in order: lamports, and tokens of token accounts. */
export function balancesIn(svm: Svm, { all }: AccountKeys) {
  const accounts = all.map((key) => svm.account(key));
  return {
    lamports: accounts.map((account) => account?.lamports ?? 0),
    tokens: accounts.flatMap((account, accountIndex) => {
      const token = readTokenAccount(account);
      if (account === null || token === null) return [];
      const { mint, owner, amount } = token;
      const { decimals = 0 } = readMint(svm.account(mint)) ?? {};
      const uiAmount = uiTokenAmount(amount, decimals);
      return [{ accountIndex, mint, owner, programId: account.owner, uiTokenAmount: uiAmount }];
    }),
  };
}
