import bs58 from "bs58";
import { z } from "zod";
import { programs } from "#api/chain/programs.ts";
import {
  Address,
  CommitmentLevel,
  type Method,
  Options,
  RpcError,
  codes,
  method,
  withContext,
} from "./json-rpc.ts";
import type { Ledger } from "./ledger.ts";
import type { ChainAccount } from "./svm.ts";
import { readMint, readTokenAccount, tokenProgramName, uiTokenAmount } from "./token-accounts.ts";

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
