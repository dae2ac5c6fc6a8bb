import { SystemProgram } from "@solana/web3.js";
import bs58 from "bs58";
import { programs } from "#api/chain/programs.ts";
import { tokenProgramName, uiTokenAmount } from "./token-accounts.ts";

/** An instruction with its accounts named. */
export type PlainInstruction = { programId: string; accounts: string[]; data: Uint8Array };

/** As the RPC shows it in `jsonParsed`: what it knows is taken apart, the rest is left in base58. */
export type ShownInstruction =
  | { program: string; programId: string; parsed: unknown; stackHeight: number | null }
  | { programId: string; accounts: string[]; data: string; stackHeight: number | null };

/** Names those that payments are made of, as a validator does. */
export function parseInstruction(
  instruction: PlainInstruction,
  stackHeight: number | null,
): ShownInstruction {
  const { programId, accounts, data } = instruction;
  const known = parsersOf(programId);
  const parsed = known?.parse(accounts, Buffer.from(data)) ?? null;
  if (known === null || parsed === null) {
    return { programId, accounts, data: bs58.encode(data), stackHeight };
  }
  return { program: known.program, programId, parsed, stackHeight };
}

/** Null for an instruction that it does not know. */
type Parse = (accounts: string[], data: Buffer) => unknown;

function parsersOf(programId: string): { program: string; parse: Parse } | null {
  if (programId === programs.memo.toBase58()) return { program: "spl-memo", parse: memo };
  if (programId === programs.memoV1.toBase58()) return { program: "spl-memo", parse: memo };
  if (programId === SystemProgram.programId.toBase58()) return { program: "system", parse: system };
  if (programId === programs.tokenAccounts.toBase58()) {
    return { program: "spl-associated-token-account", parse: tokenAccounts };
  }
  const token = tokenProgramName(programId);
  return token === null ? null : { program: token, parse: tokens };
}

const memo: Parse = (_accounts, data) => data.toString("utf8");

const system: Parse = ([source, destination], data) => {
  if (data.length !== 12 || data.readUInt32LE(0) !== 2) return null;
  const lamports = Number(data.readBigUInt64LE(4));
  return { type: "transfer", info: { source, destination, lamports } };
};

const tokenAccounts: Parse = (accounts, data) => {
  const type = data.length === 0 ? "create" : ["create", "createIdempotent"][data[0] ?? 9];
  if (type === undefined) return null;
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  return { type, info: { source, account, wallet, mint, systemProgram, tokenProgram } };
};

const tokens: Parse = (accounts, data) => {
  if (data[0] === 3 && data.length === 9) {
    const [source, destination, authority] = accounts;
    const amount = data.readBigUInt64LE(1).toString();
    return { type: "transfer", info: { source, destination, authority, amount } };
  }
  if (data[0] === 12 && data.length === 10) {
    const [source, mint, destination, authority] = accounts;
    const tokenAmount = uiTokenAmount(data.readBigUInt64LE(1), data[9] ?? 0);
    return { type: "transferChecked", info: { source, mint, destination, authority, tokenAmount } };
  }
  if (data[0] === 7 && data.length === 9) {
    const [mint, account, mintAuthority] = accounts;
    const amount = data.readBigUInt64LE(1).toString();
    return { type: "mintTo", info: { mint, account, mintAuthority, amount } };
  }
  return null;
};
