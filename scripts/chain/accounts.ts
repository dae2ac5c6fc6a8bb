import bs58 from "bs58";
import { programs } from "#api/chain/transfer.ts";
import type { AccountKeys, ChainAccount, Svm } from "./svm.ts";

const tokenPrograms = new Set([programs.token.toBase58(), programs.token2022.toBase58()]);

/** Source: SPL Token, Account and Mint. Token-2022 begins alike, and says after byte 165 which of the two it is. */
const kinds = { mint: { bytes: 82, mark: 1 }, account: { bytes: 165, mark: 2 } } as const;
const markAt = kinds.account.bytes;

/** The bytes of an account that holds this in a token program, null for any other account. */
function bytesOf(account: ChainAccount | null, kind: keyof typeof kinds): Buffer | null {
  if (account === null || !tokenPrograms.has(account.owner)) return null;
  const data = account.data();
  const { bytes, mark } = kinds[kind];
  return data.length === bytes || data[markAt] === mark ? Buffer.from(data) : null;
}

const stateAt = 108;

/** A token account in the bytes of an account, null when it is none. */
export function readTokenAccount(account: ChainAccount | null) {
  const bytes = bytesOf(account, "account");
  if (bytes === null || bytes[stateAt] === 0) return null;
  return {
    mint: bs58.encode(bytes.subarray(0, 32)),
    owner: bs58.encode(bytes.subarray(32, 64)),
    amount: bytes.readBigUInt64LE(64),
  };
}

/** A mint in the bytes of an account, null when it is none. */
export function readMint(account: ChainAccount | null) {
  const bytes = bytesOf(account, "mint");
  return bytes && { supply: bytes.readBigUInt64LE(36), decimals: bytes[44] ?? 0 };
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
