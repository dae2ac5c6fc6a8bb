import { z } from "zod";
import { programs } from "#api/chain/programs.ts";
import { type AccountEncoding, showAccount, type Slice } from "./account-view.ts";
import { codes, RpcError } from "./json-rpc.ts";
import type { Ledger } from "./ledger.ts";
import { Address, CommitmentLevel, method, type Method, Options, withContext } from "./method.ts";
import type { ChainAccount } from "./svm.ts";
import { readMint, readTokenAccount, uiTokenAmount } from "./token-accounts.ts";

const ShowOptions = z
  .looseObject({
    commitment: CommitmentLevel.optional(),
    encoding: z.enum(["base58", "base64", "base64+zstd", "jsonParsed"]).nullish(),
    dataSlice: z.object({ offset: z.int().min(0), length: z.int().min(0) }).nullish(),
  })
  .nullish();
type ShowOptions = z.infer<typeof ShowOptions>;

const accountsMax = 100;

/** What is asked about accounts. The ledger knows them as they are now, at every commitment. */
export const accountMethods: Readonly<Record<string, Method>> = {
  getAccountInfo: method(z.tuple([Address, ShowOptions.optional()]), (ledger, [of, options]) =>
    withContext(ledger, options?.commitment, shown(ledger, ledger.account(of), options)),
  ),
  getMultipleAccounts: method(
    z.tuple([z.array(Address).max(accountsMax), ShowOptions.optional()]),
    (ledger, [addresses, options]) => {
      const accounts = addresses.map((one) => shown(ledger, ledger.account(one), options));
      return withContext(ledger, options?.commitment, accounts);
    },
  ),
  getBalance: method(z.tuple([Address, Options.optional()]), (ledger, [of, options]) =>
    withContext(ledger, options?.commitment, ledger.account(of)?.lamports ?? 0),
  ),
  getMinimumBalanceForRentExemption: method(
    z.tuple([z.int().nonnegative(), Options.optional()]),
    (ledger, [bytes]) => ledger.rentFor(bytes),
  ),
  getTokenAccountBalance: method(
    z.tuple([Address, Options.optional()]),
    (ledger, [of, options]) => {
      const account = ledger.account(of);
      const token = account === null ? null : readTokenAccount(account);
      if (token === null)
        throw new RpcError(codes.invalidParams, "Invalid param: could not find account");
      const amount = uiTokenAmount(token.amount, ledger.decimals(token.mint));
      return withContext(ledger, options?.commitment, amount);
    },
  ),
  getTokenSupply: method(z.tuple([Address, Options.optional()]), (ledger, [of, options]) => {
    const account = ledger.account(of);
    const mint = account === null ? null : readMint(account);
    if (mint === null) throw new RpcError(codes.invalidParams, "Invalid param: not a Token mint");
    return withContext(ledger, options?.commitment, uiTokenAmount(mint.supply, mint.decimals));
  }),
  getTokenAccountsByOwner: method(
    z.tuple([
      Address,
      z.union([z.object({ mint: Address }), z.object({ programId: Address })]),
      ShowOptions.optional(),
    ]),
    (ledger, [owner, filter, options]) => {
      const kept = tokenAccountsOf(ledger, owner).filter(({ account, mint }) =>
        "mint" in filter ? mint === filter.mint : account.owner === filter.programId,
      );
      const value = kept.map(({ address, account }) => ({
        pubkey: address,
        account: shown(ledger, account, options),
      }));
      return withContext(ledger, options?.commitment, value);
    },
  ),
};

function shown(ledger: Ledger, account: ChainAccount | null, options: ShowOptions) {
  if (account === null) return null;
  const encoding: AccountEncoding = options?.encoding ?? "base58";
  const slice: Slice | undefined = options?.dataSlice ?? undefined;
  return showAccount(account, { encoding, slice }, (mint) => ledger.decimals(mint));
}

function tokenAccountsOf(ledger: Ledger, owner: string) {
  return [programs.token, programs.token2022].flatMap((program) =>
    ledger.accountsOf(program.toBase58()).flatMap(({ address, account }) => {
      const token = readTokenAccount(account);
      return token?.owner === owner ? [{ address, account, mint: token.mint }] : [];
    }),
  );
}
