import { describe, expect, test } from "bun:test";
import {
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { programs, tokenAccount, transferChecked } from "#api/chain/transfer.ts";
import type { Credit, TransactionFacts } from "#content/contract/transfer.ts";
import { faucetKeypair, usdcMint } from "#scripts/chain/svm.ts";
import { mintTo, signedTransaction } from "#scripts/chain/instructions.ts";
import { theChain } from "#test/support/local-chain.ts";
import { anotherNode } from "#test/support/node.ts";
import type { OpenChain } from "#api/chain/open-chain.ts";

// What the chain tells of transactions that real wallets could send.
const local = await theChain();
const chain = await local.open();
const donor = local.donor();

async function landed(payment: { bytes: Uint8Array }): Promise<TransactionFacts> {
  const { signature } = local.land(payment);
  const found = await chain.landed(signature);
  if (!found.ok || found.value === null) throw new Error(`not landed: ${JSON.stringify(found)}`);
  return found.value;
}

const credit = (changes: Record<string, unknown>) => expect.objectContaining(changes) as Credit;

describe("a transfer", () => {
  test("credits the token account with the exact amount, from the donor", async () => {
    const wallet = local.wallet();
    const payment = donor.pay({ to: wallet, usdc: "2.500001", memo: "intent 1" });
    const paid = await landed(payment);
    expect(paid).toEqual({
      tx_signature: payment.signature,
      slot: expect.any(Number),
      block_time: Math.floor(local.clock().getTime() / 1_000),
      commitment: "confirmed",
      failed: false,
      credits: [
        {
          destination: chain.tokenAccountOf(wallet),
          owner: wallet,
          mint: chain.mint,
          amount_micro_usdc: 2_500_001n,
          donor: donor.address,
          source: chain.tokenAccountOf(donor.address),
        },
      ],
      signers: [donor.address],
      memos: ["intent 1"],
    } as unknown as TransactionFacts);
    expect(local.usdcOf(wallet)).toBe(2_500_001n);
  });

  test.each([
    ["legacy", { legacy: true }],
    ["plain", { plain: true }],
    ["into an account made on the way", { makeAccount: true }],
  ])("%s counts as well", async (_name, how) => {
    const wallet = local.wallet({ account: !("makeAccount" in how) });
    const paid = await landed(donor.pay({ to: wallet, usdc: "3", ...how }));
    expect(paid.credits).toEqual([credit({ owner: wallet, amount_micro_usdc: 3_000_000n })]);
  });

  test("to two nonprofits credits each its own", async () => {
    const one = local.wallet();
    const two = local.wallet();
    const to = [one, two].map((wallet, at) => ({ to: wallet, usdc: String(at + 1) }));
    const { credits, memos } = await landed(donor.pay({ to, memo: ["a", "b"] }));
    expect(credits).toEqual([
      credit({ owner: one, amount_micro_usdc: 1_000_000n }),
      credit({ owner: two, amount_micro_usdc: 2_000_000n }),
    ]);
    expect(memos).toEqual(["a", "b"]);
  });

  test.each(["token", "token2022"] as const)("of a fake mint (%s) is not USDC", async (kept) => {
    const wallet = local.wallet();
    const program = programs[kept];
    const mint = donor.fakeMint(wallet, program);
    const { credits } = await landed(donor.pay({ to: wallet, usdc: "5", mint, program }));
    expect(credits).toEqual([credit({ mint: mint.toBase58(), amount_micro_usdc: 5_000_000n })]);
    expect(local.usdcOf(wallet)).toBe(0n);
  });

  test("that failed on chain, or to oneself, credits no one", async () => {
    const failed = await landed(donor.pay({ to: local.wallet(), usdc: "999999" }));
    expect(failed).toMatchObject({ failed: true, credits: [] });
    expect((await landed(donor.pay({ to: donor.address, usdc: "1" }))).credits).toEqual([]);
  });
});

describe("money that moves inside a program's own calls", () => {
  // The one program at hand that pays on by a call of its own: it empties a token account that a token account owns.
  const recoverNested = 2;

  test("is credited, and the wallet that signed is told", async () => {
    const keypair = Keypair.generate();
    const wallet = keypair.publicKey;
    local.chain.give({ wallet, lamports: 100_000_000n, usdc: 0n });
    const mint = new PublicKey(donor.fakeMint(wallet.toBase58()).toBase58());
    const owner = tokenAccount(wallet, mint);
    local.chain.give({ wallet: owner, usdc: 7_000_000n });
    const instruction = new TransactionInstruction({
      programId: programs.tokenAccounts,
      keys: [
        tokenAccount(owner, usdcMint),
        usdcMint,
        tokenAccount(wallet, usdcMint),
        owner,
        mint,
        wallet,
        programs.token,
      ].map((pubkey, at) => ({ pubkey, isSigner: at === 5, isWritable: [0, 2, 5].includes(at) })),
      data: Buffer.from([recoverNested]),
    });
    const paid = await landed(sign([instruction], keypair));
    expect(paid.credits).toEqual([
      credit({
        destination: chain.tokenAccountOf(wallet.toBase58()),
        amount_micro_usdc: 7_000_000n,
        donor: owner.toBase58(),
      }),
    ]);
    expect(paid.signers).toEqual([wallet.toBase58()]);
  });

  const sign = (instructions: TransactionInstruction[], ...signers: Keypair[]) => {
    const { slots } = local.chain.ledger;
    return signedTransaction(instructions, { signers, blockhash: slots.blockhash(slots.now()) });
  };

  test("new money has no donor", async () => {
    const wallet = new PublicKey(local.wallet());
    const account = tokenAccount(wallet, usdcMint);
    const minted = mintTo(usdcMint, account, faucetKeypair.publicKey, 9_000_000n);
    const paid = await landed(sign([minted], faucetKeypair));
    expect(paid.credits).toEqual([credit({ amount_micro_usdc: 9_000_000n, donor: null })]);
  });

  test("of two who pay at once neither is the donor", async () => {
    const wallet = local.wallet();
    const other = local.donor();
    const own = VersionedTransaction.deserialize(other.pay({ to: wallet, usdc: "2" }).bytes);
    const { instructions } = TransactionMessage.decompile(own.message);
    const transfer = instructions.filter(({ programId }) => programId.equals(programs.token));
    const paid = await landed(
      donor.pay({ to: wallet, usdc: "1", also: transfer, signers: [other.keypair] }),
    );
    expect(paid.credits).toEqual([
      credit({ amount_micro_usdc: 3_000_000n, donor: null, source: null }),
    ]);
  });

  test("a wallet that adds its own money to another's is its own donor", async () => {
    const nonprofit = local.donor();
    const wallet = nonprofit.keypair.publicKey;
    // The second account is another wallet's until it changes hands: then the nonprofit has two.
    const helper = local.donor();
    const account = tokenAccount(helper.keypair.publicKey, usdcMint);
    await landed(sign([setOwner(account, helper.keypair, nonprofit.keypair)], helper.keypair));
    const move = (source: PublicKey, authority: PublicKey) =>
      transferChecked({
        source,
        mint: usdcMint,
        destination: tokenAccount(wallet, usdcMint),
        authority,
        amount: 1_000_000n,
        decimals: 6,
      });
    const own = move(account, wallet);
    const others = move(tokenAccount(donor.keypair.publicKey, usdcMint), donor.keypair.publicKey);
    const paid = await landed(sign([others, own], donor.keypair, nonprofit.keypair));
    expect(paid.credits).toEqual([
      credit({ owner: nonprofit.address, amount_micro_usdc: 2_000_000n, donor: nonprofit.address }),
    ]);
  });

  test("an account that only changes hands, balance and all, gained nothing", async () => {
    const old = local.donor();
    const next = local.donor();
    const account = tokenAccount(old.keypair.publicKey, usdcMint);
    const paid = await landed(sign([setOwner(account, old.keypair, next.keypair)], old.keypair));
    expect(paid.credits).toEqual([]);
    // Nor is a wallet whose account has another owner one that can receive.
    expect(await chain.canReceive(old.address)).toEqual({ ok: true, value: false });
  });

  const setOwner = (account: PublicKey, from: Keypair, to: Keypair) =>
    new TransactionInstruction({
      programId: programs.token,
      keys: [
        { pubkey: account, isSigner: false, isWritable: true },
        { pubkey: from.publicKey, isSigner: true, isWritable: false },
      ],
      data: Buffer.concat([Buffer.from([6, 2, 1]), to.publicKey.toBytes()]),
    });
});

test("memos of all memo programs are read, in any script, and without text", async () => {
  const memoOf = (programId: PublicKey, text: string) =>
    new TransactionInstruction({ programId, keys: [], data: Buffer.from(text) });
  const also = [memoOf(programs.memoV1, "भारत 🇮🇳"), memoOf(programs.memoV4, "newest")];
  const paid = await landed(donor.pay({ to: local.wallet(), also, memo: ["third", ""] }));
  expect(paid.memos).toEqual(["भारत 🇮🇳", "newest", "third", ""]);
});

test("a transaction is not shown before it is as final as is asked for", async () => {
  const final = await local.open({ commitment: "finalized" });
  const payment = donor.pay({ to: local.wallet() });
  const commitmentBy = async ({ landed: look }: OpenChain) => {
    const answer = await look(payment.signature);
    return answer.ok ? (answer.value?.commitment ?? null) : "unclear";
  };
  expect(await commitmentBy(chain)).toBeNull();
  local.land(payment);
  expect([await commitmentBy(chain), await commitmentBy(final)]).toEqual(["confirmed", null]);
  local.pass(15_000);
  expect(await commitmentBy(final)).toBe("finalized");
});

describe("an answer that lacks facts is unclear", () => {
  /** What the local chain answers, changed by the test. */
  async function answered(change: (transaction: Answered) => unknown) {
    const { signature } = local.land(donor.pay({ to: local.wallet() }));
    const node = anotherNode(local.chain, (_, truth) => change(truth as Answered));
    const changed = await local.open({ rpcUrls: [node.url], deadlineMs: 200 });
    const answer = await changed.landed(signature);
    await node.stop();
    return answer;
  }
  type Answered = {
    slot: number;
    meta: { postTokenBalances: Record<string, unknown>[]; err: unknown };
    transaction: { signatures: string[] };
  };

  const withBalances = (change: object) => (it: Answered) => {
    const postTokenBalances = it.meta.postTokenBalances.map((balance) => ({
      ...balance,
      ...change,
    }));
    return { ...it, meta: { ...it.meta, postTokenBalances } };
  };
  test.each<[string, (transaction: Answered) => unknown]>([
    ["without its meta", (it) => ({ ...it, meta: null })],
    ["without balances", (it) => ({ ...it, meta: { ...it.meta, postTokenBalances: undefined } })],
    ["with balances of nobody", withBalances({ owner: undefined })],
    ["with amounts that are no whole numbers", withBalances({ uiTokenAmount: { amount: "1e9" } })],
    ["without saying whether it failed", (it) => ({ ...it, meta: { ...it.meta, err: undefined } })],
    [
      "of another transaction",
      (it) => ({ ...it, transaction: { ...it.transaction, signatures: ["1".repeat(64)] } }),
    ],
    ["that is a list", () => []],
    ["without a slot", (it) => ({ ...it, slot: undefined })],
  ])("%s", async (_, change) => {
    expect(await answered(change)).toMatchObject({ ok: false, failure: { kind: "chain_unclear" } });
  });

  test("while an unchanged one is clear, and so is one without a time", async () => {
    expect(await answered((it) => it)).toMatchObject({ ok: true, value: { failed: false } });
    expect(await answered((it) => ({ ...it, blockTime: null }))).toMatchObject({
      value: { block_time: null },
    });
  });
});
