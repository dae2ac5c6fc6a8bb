import { describe, expect, test } from "bun:test";
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { programs } from "#api/chain/transfer.ts";
import { usdcMint } from "#scripts/chain/svm.ts";
import type { Paying } from "#test/support/paying.ts";
import { isFull } from "#test/support/measured.ts";
import { theChain } from "#test/support/local-chain.ts";
import type { Payment } from "#content/giving/world.ts";

// What a client hands in, taken apart before anybody sends it.
const local = await theChain();
const chain = await local.open();
const donor = local.donor();
const wallet = local.wallet();

function read({ base64 }: { base64: string }): Payment {
  const payment = chain.readPayment(base64);
  if (!payment.ok) throw new Error(payment.failure.why);
  return payment.value;
}

const sponsorAddress = () => local.sponsor.publicKey.toBase58();

describe("a payment of the exact scheme", () => {
  test("says what it pays, to whom and for which fee", () => {
    const built = donor.pay({
      to: wallet,
      usdc: "2.5",
      memo: "intent",
      computeUnits: 30_000,
      unitPrice: 5,
    });
    const blockhash = local.chain.ledger.slots.blockhash(local.chain.ledger.slots.now());
    expect(read(built)).toEqual({
      tx_signature: built.signature,
      fee_payer: donor.address,
      signers: [donor.address],
      unsigned: [],
      badly_signed: [],
      compute_units: 30_000,
      compute_unit_price: 5n,
      transfer: {
        source: chain.tokenAccountOf(donor.address),
        destination: chain.tokenAccountOf(wallet),
        mint: chain.mint,
        authority: donor.address,
        amount: 2_500_000n,
        decimals: 6,
      },
      memos: ["intent"],
      other_programs: [],
      uses_lookup_tables: false,
      blockhash,
      bytes: built.bytes,
    });
  });

  test.each([
    ["a legacy transaction", { legacy: true }, { mint: usdcMint.toBase58(), decimals: 6 }],
    ["a plain transfer, which names no mint", { plain: true }, { mint: null, decimals: null }],
  ])("may be %s", (_, how, token) => {
    const built = donor.pay({ to: wallet, ...how });
    const payment = read(built);
    expect(payment).toMatchObject({ tx_signature: built.signature, other_programs: [] });
    const { address: authority } = donor;
    const destination = chain.tokenAccountOf(wallet);
    expect(payment.transfer).toMatchObject({
      ...token,
      amount: 1_000_000n,
      authority,
      destination,
    });
  });

  test("has no signature of its own while the sponsor's is missing", () => {
    const payment = read(donor.pay({ to: wallet, feePayer: sponsorAddress() }));
    expect(payment).toMatchObject({
      tx_signature: null,
      fee_payer: sponsorAddress(),
      signers: [sponsorAddress(), donor.address],
      unsigned: [sponsorAddress()],
      badly_signed: [],
    });
  });
});

describe("what does not belong into a payment is named", () => {
  const budget = programs.computeBudget.toBase58();
  const nothing = (from: PublicKey) =>
    SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: 0 });
  const extra = Keypair.generate();

  test.each<[string, () => Partial<Paying>, object]>([
    [
      "a second transfer",
      () => ({ to: [wallet, local.wallet()].map((to) => ({ to, usdc: "1" })) }),
      { transfer: { amount: 1_000_000n }, other_programs: [programs.token.toBase58()] },
    ],
    [
      "a transfer of another token program",
      () => ({ mint: Keypair.generate().publicKey, program: programs.token2022 }),
      { transfer: null, other_programs: [programs.token2022.toBase58()] },
    ],
    [
      "an account that is made, a transfer of SOL, an unknown budget",
      () => ({
        makeAccount: true,
        also: [
          nothing(donor.keypair.publicKey),
          ComputeBudgetProgram.requestHeapFrame({ bytes: 262_144 }),
        ],
      }),
      {
        other_programs: [
          programs.tokenAccounts.toBase58(),
          SystemProgram.programId.toBase58(),
          budget,
        ],
      },
    ],
    [
      "a limit or a price that is said twice",
      () => ({
        computeUnits: 30_000,
        unitPrice: 5,
        also: [
          ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }),
          ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
        ],
      }),
      { compute_units: 30_000, compute_unit_price: 5n, other_programs: [budget, budget] },
    ],
    [
      "a signer beside the donor",
      () => ({ also: [nothing(extra.publicKey)], signers: [extra] }),
      { signers: [expect.any(String), extra.publicKey.toBase58()] },
    ],
  ])("%s", (_, paying, facts) => {
    expect(read(donor.pay({ to: wallet, ...paying() }))).toMatchObject(facts);
  });

  test("accounts that hide in lookup tables", () => {
    const hidden = hiddenIn(donor.pay({ to: wallet }));
    expect(read({ base64: hidden })).toMatchObject({ uses_lookup_tables: true, transfer: null });
  });

  test("a signature that does not fit", () => {
    const built = donor.pay({ to: wallet });
    const bytes = built.bytes.slice();
    bytes[1] = (bytes[1] ?? 0) ^ 1;
    const payment = read({ base64: Buffer.from(bytes).toString("base64") });
    expect(payment.badly_signed).toEqual([donor.address]);
    // Money that was changed after it was signed for, too.
    const raised = built.bytes.slice();
    const at = Buffer.from(raised).indexOf(Buffer.from([0x0c, 0x40, 0x42, 0x0f]));
    raised[at + 3] = 0x7f;
    const changed = read({ base64: Buffer.from(raised).toString("base64") });
    expect(changed.transfer?.amount).toBeGreaterThan(1_000_000n);
    expect(changed.badly_signed).toEqual([donor.address]);
  });
});

/** The same with the account that is paid in a lookup table. */
function hiddenIn({ bytes }: { bytes: Uint8Array }): string {
  const table = new AddressLookupTableAccount({
    key: Keypair.generate().publicKey,
    state: {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [new PublicKey(chain.tokenAccountOf(wallet))],
    },
  });
  const { message } = VersionedTransaction.deserialize(bytes);
  const hidden = TransactionMessage.decompile(message).compileToV0Message([table]);
  const transaction = new VersionedTransaction(hidden);
  transaction.sign([donor.keypair]);
  return Buffer.from(transaction.serialize()).toString("base64");
}

describe("what is no transaction is refused", () => {
  const whole = () => donor.pay({ to: wallet }).bytes;
  const base64 = (bytes: Uint8Array | number[]) => Buffer.from(bytes).toString("base64");
  test.each<[string, () => string]>([
    ["nothing", () => ""],
    ["no base64", () => "not a transaction!"],
    ["base64 of the URL kind", () => "-_-_"],
    ["other bytes", () => base64(new Uint8Array(200).fill(7))],
    ["half of one", () => base64(whole().slice(0, 120))],
    ["one with bytes behind it", () => base64([...whole(), 0])],
    ["one that is too long for a packet", () => base64(new Uint8Array(1_233))],
    ["a megabyte", () => "A".repeat(1_048_576)],
    ["one without signers", () => base64([0, ...whole().slice(65)])],
    [
      "one with more signatures than signers",
      () => base64([2, ...whole().slice(1, 65), ...new Uint8Array(64), ...whole().slice(65)]),
    ],
    ["one that names its fee payer a second time", () => base64(withKey(whole(), 0))],
    ["an instruction of an account that is not there", () => base64(withProgram(whole(), 200))],
  ])("%s", (_, text) => {
    const refusal = { ok: false, failure: { kind: "payment_malformed" } };
    expect(chain.readPayment(text())).toMatchObject(refusal);
  });

  test("and no random bytes break it", () => {
    const sound = whole();
    const rounds = isFull ? 2_000 : 300;
    for (let round = 0; round < rounds; round++) {
      const bytes = sound.slice();
      for (let changes = 0; changes <= round % 4; changes++) {
        bytes[Math.floor(Math.random() * bytes.length)] = Math.floor(Math.random() * 256);
      }
      const payment = chain.readPayment(base64(bytes));
      // What was changed is either no transaction or not what the donor signed; the first byte alone counts signatures.
      if (payment.ok && !Buffer.from(bytes).equals(Buffer.from(sound))) {
        const { badly_signed, unsigned } = payment.value;
        expect(badly_signed.length + unsigned.length).toBeGreaterThan(0);
      }
    }
  });
});

/** Lets the last account be another one of the same transaction. */
function withKey(bytes: Uint8Array, index: number): Uint8Array {
  const transaction = VersionedTransaction.deserialize(bytes);
  const keys = transaction.message.staticAccountKeys;
  keys[keys.length - 1] = keys[index] ?? PublicKey.default;
  return transaction.serialize();
}

/** Lets the last instruction call a program at this index. */
function withProgram(bytes: Uint8Array, index: number): Uint8Array {
  const transaction = VersionedTransaction.deserialize(bytes);
  const last = transaction.message.compiledInstructions.at(-1);
  if (last !== undefined) last.programIdIndex = index;
  return transaction.serialize();
}

describe("the sponsor", () => {
  test("signs a payment whose fee it pays, and nothing is missing then", () => {
    const signed = chain.sponsored(read(donor.pay({ to: wallet, feePayer: sponsorAddress() })));
    expect(signed).toMatchObject({ ok: true, value: { unsigned: [], badly_signed: [] } });
    if (signed.ok) {
      expect(signed.value.tx_signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
      expect(read({ base64: Buffer.from(signed.value.bytes).toString("base64") })).toEqual(
        signed.value,
      );
    }
  });

  const spending =
    (make: (sponsor: PublicKey, other: PublicKey) => TransactionInstruction) => () => ({
      also: [make(local.sponsor.publicKey, donor.keypair.publicKey)],
    });
  test.each<[string, () => Partial<Paying>]>([
    ["whose fee another pays", () => ({ feePayer: donor.address })],
    ["that spends its tokens", () => ({ authority: sponsorAddress() })],
    [
      "that spends its SOL",
      spending((fromPubkey, toPubkey) =>
        SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 1_000 }),
      ),
    ],
    [
      "that lets it pay for an account",
      spending((fromPubkey, newAccountPubkey) => {
        const { programId } = SystemProgram;
        const account = { fromPubkey, newAccountPubkey, lamports: 1, space: 0, programId };
        return SystemProgram.createAccount(account);
      }),
    ],
    ["that only names it, as a reference", () => ({ references: [sponsorAddress()] })],
  ])("does not sign a payment %s", (_, paying) => {
    expectRefused(donor.pay({ to: wallet, feePayer: sponsorAddress(), ...paying() }));
  });

  test("does not sign a payment that uses lookup tables", () => {
    const payment = donor.pay({ to: wallet, feePayer: sponsorAddress() });
    expectRefused({ base64: hiddenIn(payment) });
  });

  function expectRefused(built: { base64: string }): void {
    const unsigned = read(built);
    const refusal = { ok: false, failure: { kind: "not_sponsored" } };
    expect(chain.sponsored(unsigned)).toMatchObject(refusal);
    // Nor is a signature left behind in what was refused.
    expect(read({ base64: Buffer.from(unsigned.bytes).toString("base64") })).toEqual(unsigned);
  }

  test("is not there without a key", async () => {
    const poor = await local.open({ sponsorKey: null });
    const payment = read(donor.pay({ to: wallet, feePayer: sponsorAddress() }));
    expect(poor.sponsored(payment)).toMatchObject({ ok: false });
  });
});
