import bs58 from "bs58";
import { z } from "zod";
import { programs } from "#api/chain/programs.ts";
import type { AccountKeys, ChainAccount, Svm } from "./svm.ts";

/** How a client wants to see an account's data. */
export const ShownAs = z.looseObject({
  encoding: z.enum(["base58", "base64", "base64+zstd", "jsonParsed"]).nullish(),
  dataSlice: z.object({ offset: z.int().min(0), length: z.int().min(0) }).nullish(),
});
export type ShownAs = z.infer<typeof ShownAs>;

/** `rentEpoch` of accounts that pay no rent is the largest u64; as a number it becomes this. */
const rentExempt = 18_446_744_073_709_552_000;

/** An account as the RPC shows it. The ledger knows the decimals of a mint. */
export function showAccount(
  { decimals }: { decimals: (mint: string) => number },
  account: ChainAccount | null,
  as: ShownAs | null | undefined,
) {
  if (account === null) return null;
  const { owner, lamports, executable, bytes } = account;
  const parsed = as?.encoding === "jsonParsed" ? parsedData(account, decimals) : null;
  const data = parsed ?? encodedData(account, as ?? {});
  return { lamports, owner, executable, rentEpoch: rentExempt, space: bytes, data };
}

function encodedData(account: ChainAccount, { encoding, dataSlice: slice }: ShownAs) {
  const whole = account.data();
  const data = slice ? whole.subarray(slice.offset, slice.offset + slice.length) : whole;
  if ((encoding ?? "base58") === "base58") return [bs58.encode(data), "base58"];
  // Data that no parser knows is shown as base64, as a validator does.
  if (encoding !== "base64+zstd") return [Buffer.from(data).toString("base64"), "base64"];
  return [Buffer.from(Bun.zstdCompressSync(data)).toString("base64"), encoding];
}

function parsedData(account: ChainAccount, decimals: (mint: string) => number) {
  const [token, mint] = [readTokenAccount(account), readMint(account)];
  if (token === null && mint === null) return null;
  const parsed = token === null ? parsedMint(mint) : parsedToken(token, decimals(token.mint));
  return { program: tokenProgramName(account.owner), parsed, space: account.bytes };
}

const parsedToken = ({ mint, owner, state, amount }: TokenAccount, decimals: number) => ({
  type: "account",
  info: { isNative: false, mint, owner, state, tokenAmount: uiTokenAmount(amount, decimals) },
});

const parsedMint = (mint: Mint | null) => ({
  type: "mint",
  info: { ...mint, freezeAuthority: null, isInitialized: true, supply: mint?.supply.toString() },
});

type TokenAccount = NonNullable<ReturnType<typeof readTokenAccount>>;
type Mint = NonNullable<ReturnType<typeof readMint>>;

const tokenPrograms = {
  [programs.token.toBase58()]: "spl-token",
  [programs.token2022.toBase58()]: "spl-token-2022",
} as const;

/** Name of a token program as parsed answers give it, null for any other program. */
export const tokenProgramName = (program: string): string | null => tokenPrograms[program] ?? null;

/** Source: SPL Token, Account and Mint. Token-2022 begins alike, and says after byte 165 which of the two it is. */
const kinds = { mint: { bytes: 82, mark: 1 }, account: { bytes: 165, mark: 2 } } as const;
const markAt = kinds.account.bytes;

/** The bytes of an account that holds this in a token program, null for any other account. */
function bytesOf(account: ChainAccount | null, kind: keyof typeof kinds): Buffer | null {
  if (account === null || tokenProgramName(account.owner) === null) return null;
  const data = account.data();
  const { bytes, mark } = kinds[kind];
  return data.length === bytes || data[markAt] === mark ? Buffer.from(data) : null;
}

/** A token account in the bytes of an account, null when it is none. */
export function readTokenAccount(account: ChainAccount | null) {
  const bytes = bytesOf(account, "account");
  const state = ([null, "initialized", "frozen"] as const)[bytes?.[108] ?? 0] ?? null;
  if (bytes === null || state === null) return null;
  return {
    mint: bs58.encode(bytes.subarray(0, 32)),
    owner: bs58.encode(bytes.subarray(32, 64)),
    amount: bytes.readBigUInt64LE(64),
    state,
  };
}

/** A mint in the bytes of an account, null when it is none. */
export function readMint(account: ChainAccount | null) {
  const bytes = bytesOf(account, "mint");
  if (bytes === null) return null;
  return {
    supply: bytes.readBigUInt64LE(36),
    decimals: bytes[44] ?? 0,
    mintAuthority: bytes.readUInt32LE(0) === 1 ? bs58.encode(bytes.subarray(4, 36)) : null,
  };
}

/** An amount in all the forms of the RPC. */
export function uiTokenAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const text = part === "" ? whole : `${whole}.${part}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}

export type Balances = ReturnType<typeof balancesIn>;

/** What accounts hold, in their order: lamports, and tokens of those that are token accounts. */
export function balancesIn(svm: Svm, keys: AccountKeys) {
  const accounts = keys.all.map((key) => svm.account(key));
  return {
    lamports: accounts.map((account) => account?.lamports ?? 0),
    tokens: accounts.flatMap((account, accountIndex) => {
      const token = readTokenAccount(account);
      if (account === null || token === null) return [];
      const { mint, owner, amount } = token;
      const shown = uiTokenAmount(amount, decimalsOf(svm, mint));
      return [{ accountIndex, mint, owner, programId: account.owner, uiTokenAmount: shown }];
    }),
  };
}

/** Of a mint; 0 when it is none. */
export const decimalsOf = (svm: Svm, mint: string): number =>
  readMint(svm.account(mint))?.decimals ?? 0;
