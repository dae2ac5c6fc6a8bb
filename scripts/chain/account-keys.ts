import {
  AddressLookupTableAccount,
  type PublicKey,
  type VersionedTransaction,
} from "@solana/web3.js";
import type { Svm } from "./svm.ts";

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
