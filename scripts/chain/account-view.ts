import bs58 from "bs58";
import type { ChainAccount } from "./svm.ts";
import { readMint, readTokenAccount, tokenProgramName, uiTokenAmount } from "./token-accounts.ts";

export type AccountEncoding = "base58" | "base64" | "base64+zstd" | "jsonParsed";
export type Slice = { offset: number; length: number };

/** `rentEpoch` of accounts that pay no rent is the largest u64; as a number it becomes this. */
const rentExempt = 18_446_744_073_709_552_000;

/** An account as the RPC shows it. `decimals` are a mint's, by its address. */
export function showAccount(
  account: ChainAccount,
  { encoding, slice }: { encoding: AccountEncoding; slice?: Slice | undefined },
  decimals: (mint: string) => number,
) {
  const { owner, lamports, executable, bytes } = account;
  const data = dataOf(account, encoding, slice, decimals);
  return { lamports, owner, executable, rentEpoch: rentExempt, space: bytes, data };
}

function dataOf(
  account: ChainAccount,
  encoding: AccountEncoding,
  slice: Slice | undefined,
  decimals: (mint: string) => number,
) {
  const parsed = encoding === "jsonParsed" ? parsedData(account, decimals) : null;
  if (parsed !== null) return parsed;
  const whole = account.data();
  const data =
    slice === undefined ? whole : whole.subarray(slice.offset, slice.offset + slice.length);
  if (encoding === "base58") return [bs58.encode(data), "base58"];
  if (encoding === "base64+zstd") {
    return [Buffer.from(Bun.zstdCompressSync(data)).toString("base64"), "base64+zstd"];
  }
  return [Buffer.from(data).toString("base64"), "base64"];
}

/** Null for data that no parser knows; it is shown as base64 then, as a validator does. */
function parsedData(account: ChainAccount, decimals: (mint: string) => number) {
  const program = tokenProgramName(account.owner);
  if (program === null) return null;
  const token = readTokenAccount(account);
  if (token !== null) {
    const { mint, owner, state, amount } = token;
    const tokenAmount = uiTokenAmount(amount, decimals(mint));
    const info = { isNative: false, mint, owner, state, tokenAmount };
    return { program, parsed: { type: "account", info }, space: account.bytes };
  }
  const mint = readMint(account);
  if (mint === null) return null;
  const { supply, decimals: places, mintAuthority } = mint;
  const info = {
    decimals: places,
    freezeAuthority: null,
    isInitialized: true,
    mintAuthority,
    supply: supply.toString(),
  };
  return { program, parsed: { type: "mint", info }, space: account.bytes };
}
