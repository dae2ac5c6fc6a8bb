import bs58 from "bs58";
import { programs } from "#api/chain/programs.ts";
import type { AccountKeys, ChainAccount, Svm } from "./svm.ts";

/** A token account's balance beside a transaction, as the RPC shows it. */
export type TokenBalance = {
  accountIndex: number;
  mint: string;
  owner: string;
  programId: string;
  uiTokenAmount: UiTokenAmount;
};

export type UiTokenAmount = {
  amount: string;
  decimals: number;
  uiAmount: number | null;
  uiAmountString: string;
};

export type TokenAccount = {
  mint: string;
  owner: string;
  amount: bigint;
  state: "uninitialized" | "initialized" | "frozen";
};

const tokenPrograms = {
  [programs.token.toBase58()]: "spl-token",
  [programs.token2022.toBase58()]: "spl-token-2022",
} as const;

/** Name of a token program as parsed answers give it, null for any other program. */
export const tokenProgramName = (program: string): string | null => tokenPrograms[program] ?? null;

/** Source: SPL Token, Account and Mint. Token-2022 begins alike, and says after byte 165 which of the two it is. */
const accountBytes = 165;
const mintBytes = 82;
const kindByte = { mint: 1, account: 2 } as const;

/** A token account in the bytes of an account, null when it is none. */
export function readTokenAccount(account: ChainAccount): TokenAccount | null {
  if (tokenProgramName(account.owner) === null) return null;
  const data = account.data();
  if (data.length < accountBytes) return null;
  if (data.length > accountBytes && data[accountBytes] !== kindByte.account) return null;
  const bytes = Buffer.from(data);
  const state = (["uninitialized", "initialized", "frozen"] as const)[bytes[108] ?? 0];
  if (state === undefined || state === "uninitialized") return null;
  return {
    mint: bs58.encode(bytes.subarray(0, 32)),
    owner: bs58.encode(bytes.subarray(32, 64)),
    amount: bytes.readBigUInt64LE(64),
    state,
  };
}

export type Mint = { supply: bigint; decimals: number; mintAuthority: string | null };

export function readMint(account: ChainAccount): Mint | null {
  if (tokenProgramName(account.owner) === null) return null;
  const data = account.data();
  if (data.length < mintBytes) return null;
  if (data.length > mintBytes && data[accountBytes] !== kindByte.mint) return null;
  const bytes = Buffer.from(data);
  return {
    supply: bytes.readBigUInt64LE(36),
    decimals: bytes[44] ?? 0,
    mintAuthority: bytes.readUInt32LE(0) === 1 ? bs58.encode(bytes.subarray(4, 36)) : null,
  };
}

/** An amount in all the forms of the RPC. */
export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const text = part === "" ? whole : `${whole}.${part}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}

/** What accounts hold, in their order: lamports, and tokens of those that are token accounts. */
export type Balances = { lamports: number[]; tokens: TokenBalance[] };

export function balancesIn(svm: Svm, keys: AccountKeys): Balances {
  const balances: Balances = { lamports: [], tokens: [] };
  for (const [accountIndex, key] of keys.all.entries()) {
    const account = svm.account(key);
    balances.lamports.push(account?.lamports ?? 0);
    const token = account === null ? null : readTokenAccount(account);
    if (account === null || token === null) continue;
    const { mint, owner, amount } = token;
    const decimals = decimalsOf(svm, mint);
    balances.tokens.push({
      accountIndex,
      mint,
      owner,
      programId: account.owner,
      uiTokenAmount: uiTokenAmount(amount, decimals),
    });
  }
  return balances;
}

/** Of a mint; 0 when it is none. */
export function decimalsOf(svm: Pick<Svm, "account">, mint: string): number {
  const account = svm.account(mint);
  return account === null ? 0 : (readMint(account)?.decimals ?? 0);
}
