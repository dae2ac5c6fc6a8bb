import { beforeEach, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { openJournal } from "#scripts/chain/journal.ts";
import { aChain } from "#test/support/local-chain.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);
let journal: string;
beforeEach(() => {
  journal = folder("chain", "journal.db");
});

describe("a chain that is started again", () => {
  test("has the same balances and transactions, failed ones as well", async () => {
    const first = await aChain({ journal });
    const donor = first.donor();
    const wallet = first.wallet();
    const paid = first.land(donor.pay({ to: wallet, usdc: "2.5", memo: "kept" }));
    const failed = first.land(donor.pay({ to: wallet, usdc: "9999" }));
    const view = async () => {
      const chain = await first.open({ rpcUrls: [first.url] });
      return [await chain.landed(paid.signature), await chain.landed(failed.signature)];
    };
    const before = await view();
    const lamports = first.lamportsOf(donor.address);
    await first.stop();

    const second = await aChain({ journal });
    expect(second.usdcOf(wallet)).toBe(2_500_000n);
    expect(second.lamportsOf(donor.address)).toBe(lamports);
    const chain = await second.open();
    expect([await chain.landed(paid.signature), await chain.landed(failed.signature)]).toEqual(
      before,
    );
    // What has landed cannot land again, and what had a blockhash from before can land now.
    expect(() => second.land(paid)).toThrow("AlreadyProcessed");
    second.land(
      donor.pay({ to: wallet, usdc: "1", blockhash: paid.transaction.message.recentBlockhash }),
    );
    expect(second.usdcOf(wallet)).toBe(3_500_000n);
    await second.stop();
  });

  test("runs nothing again: its transactions may be many", async () => {
    const first = await aChain({ journal });
    const donor = first.donor();
    const wallet = first.wallet();
    first.land(donor.pay({ to: wallet, usdc: "2.5" }));
    await first.stop();
    const db = new Database(journal);
    db.run("UPDATE transactions SET bytes = x'00'");
    db.close();
    const second = await aChain({ journal });
    expect(second.usdcOf(wallet)).toBe(2_500_000n);
    await second.stop();
  });

  test("has one keeper: another is refused until the first has ended", async () => {
    const first = await aChain({ journal });
    expect(() => openJournal(journal)).toThrow("another process keeps");
    await first.stop();
    openJournal(journal).close();
  });
});
