import {
  AddressLookupTableAccount,
  type PublicKey,
  type VersionedTransaction,
} from "@solana/web3.js";
import bs58 from "bs58";
import {
  Account,
  FailedTransactionMetadata,
  LiteSvm,
  type SimulatedTransactionInfo,
} from "litesvm/dist/internal";
import { type Outcome, outcomeOf } from "./outcome.ts";

/** An account as the runtime holds it. */
export type ChainAccount = {
  /** The program it belongs to. */
  owner: string;
  lamports: number;
  executable: boolean;
  bytes: number;
  /** Copied out at each call: programs are megabytes. */
  data(): Uint8Array;
};

/** The Solana runtime: runs what it is given, without asking for blockhashes or whether it has run before. */
export type Svm = {
  account(address: string): ChainAccount | null;
  accountsOf(program: string): { address: string; account: ChainAccount }[];
  put(address: string, account: { owner: string; lamports: bigint; data: Uint8Array }): void;
  run(bytes: Uint8Array, versioned: boolean): Outcome;
  /** `after` are the accounts that the transaction would have changed. */
  simulate(
    bytes: Uint8Array,
    versioned: boolean,
  ): { outcome: Outcome; after: Map<string, ChainAccount> };
  /** Whether signatures are looked at; they are at first. */
  verify(signatures: boolean): void;
  setTime(slot: number, seconds: number): void;
  rentFor(bytes: number): number;
};

export function openSvm(): Svm {
  const svm = new LiteSvm();
  svm.setBlockhashCheck(false);
  svm.setTransactionHistory(0n);
  const look = (address: string) => svm.getAccount(bs58.decode(address));
  // Each look at a program copies all of it, outside the reach of the garbage collector.
  const programs = new Map<string, ChainAccount>();
  return {
    account: (address) => {
      const known = programs.get(address);
      if (known !== undefined) return known;
      const account = accountOf(look(address));
      if (account?.executable !== true) return account;
      const { owner, lamports, bytes } = account;
      const data = () => accountOf(look(address))?.data() ?? new Uint8Array();
      const program = { owner, lamports, executable: true, bytes, data };
      programs.set(address, program);
      return program;
    },
    accountsOf: (program) =>
      svm.getProgramAccounts(bs58.decode(program)).flatMap((one) => {
        const account = accountOf(one.account());
        return account === null ? [] : [{ address: bs58.encode(one.address), account }];
      }),
    put: (address, { owner, lamports, data }) =>
      svm.setAccount(
        bs58.decode(address),
        new Account(lamports, data, bs58.decode(owner), false, 0n),
      ),
    run: (bytes, versioned) =>
      outcomeOf(versioned ? svm.sendVersionedTransaction(bytes) : svm.sendLegacyTransaction(bytes)),
    simulate: (bytes, versioned) => {
      const ran = versioned
        ? svm.simulateVersionedTransaction(bytes)
        : svm.simulateLegacyTransaction(bytes);
      if (ran instanceof FailedTransactionMetadata)
        return { outcome: outcomeOf(ran), after: new Map() };
      return { outcome: outcomeOf(ran.meta()), after: accountsAfter(ran) };
    },
    verify: (signatures) => svm.setSigverify(signatures),
    setTime: (slot, seconds) => {
      const clock = svm.getClock();
      clock.slot = BigInt(slot);
      clock.unixTimestamp = BigInt(seconds);
      svm.setClock(clock);
    },
    rentFor: (bytes) => Number(svm.minimumBalanceForRentExemption(BigInt(bytes))),
  };
}

/** Null for an account without money, too: it does not exist any more. */
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

function accountsAfter(ran: SimulatedTransactionInfo): Map<string, ChainAccount> {
  return new Map(
    ran.postAccounts().flatMap((one) => {
      const account = accountOf(one.account());
      return account === null ? [] : [[bs58.encode(one.address), account] as const];
    }),
  );
}

/** All accounts of a transaction in the order in which instructions count them. */
export type AccountKeys = {
  all: string[];
  /** Those that stand in the message; the rest was loaded from lookup tables. */
  named: number;
  loaded: { writable: string[]; readonly: string[] };
  isSigner(index: number): boolean;
  isWritable(index: number): boolean;
};

/** Resolves them. Null when a lookup table is missing or too short. */
export function accountKeysOf({ message }: VersionedTransaction, svm: Svm): AccountKeys | null {
  const writable: (PublicKey | undefined)[] = [];
  const readonly: (PublicKey | undefined)[] = [];
  for (const lookup of message.addressTableLookups) {
    const addresses = addressesIn(svm, lookup.accountKey);
    writable.push(...lookup.writableIndexes.map((index) => addresses[index]));
    readonly.push(...lookup.readonlyIndexes.map((index) => addresses[index]));
  }
  const keys = [...message.staticAccountKeys, ...writable, ...readonly];
  if (keys.includes(undefined)) return null;
  const there = keys.filter((key) => key !== undefined);
  const all = there.map((key) => key.toBase58());
  const named = message.staticAccountKeys.length;
  return {
    all,
    named,
    loaded: {
      writable: all.slice(named, named + writable.length),
      readonly: all.slice(named + writable.length),
    },
    isSigner: (index) => message.isAccountSigner(index),
    isWritable: (index) => message.isAccountWritable(index),
  };
}

function addressesIn(svm: Svm, table: PublicKey): PublicKey[] {
  const account = svm.account(table.toBase58());
  if (account === null) return [];
  return AddressLookupTableAccount.deserialize(account.data()).addresses;
}
