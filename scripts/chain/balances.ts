import type { AccountKeys } from "./account-keys.ts";
import type { Svm } from "./svm.ts";
import { readMint, readTokenAccount, type TokenBalance, uiTokenAmount } from "./token-accounts.ts";

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
