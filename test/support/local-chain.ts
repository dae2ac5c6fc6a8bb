import { forFile } from "./at-file-top.ts";
import { Keypair, PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import { type ChainSettings, openChain, type OpenChain } from "#api/chain/open-chain.ts";
import { tokenAccount } from "#api/chain/transfer.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { readTokenAccount, usdcMint } from "#scripts/chain/svm.ts";
import { give } from "#scripts/chain/instructions.ts";
import type { SlotOptions } from "#scripts/chain/ledger.ts";
import { openLocalChain, serveLocalChain } from "#scripts/chain/local-chain.ts";
import { aDonor, type Donor } from "./donor.ts";
import { testNow } from "./service.ts";

export type TestChain = Awaited<ReturnType<typeof aChain>>;

export type TestChainOptions = {
  /** Where its time begins; a function instead of an instant replaces the standing clock. */
  now?: Date | Clock;
  /** 0 and 32 unless said: a transaction is confirmed at once, and finalized 13 s later. */
  slots?: Partial<SlotOptions>;
  chaos?: unknown;
  journal?: string;
};

/**
 * A local chain that runs in the test's process and answers HTTP. Its time stands still until the test passes some;
 * donors reach its ledger without HTTP, so that chaos hits only who is tested. Stop it after the test.
 */
export async function aChain(options: TestChainOptions = {}) {
  const { now = testNow, slots, chaos = {}, journal = null } = options;
  let passedMs = 0;
  const start = typeof now === "function" ? now : () => now;
  const clock = () => new Date(start().getTime() + passedMs);
  const timing = { confirmedAfter: 0, finalizedAfter: 32, ...slots };
  const chain = openLocalChain({ clock, chaos, journal, slots: timing });
  const served = serveLocalChain(chain, 0);
  const { ledger } = chain;
  const sponsor = Keypair.generate();
  const sponsorKey = bs58.encode(sponsor.secretKey);
  give(ledger, { wallet: sponsor.publicKey, lamports: lamportsPerSol });
  return {
    /** The RPC's address. */
    url: served.url,
    chain,
    /** The time of chain and service: hand it to both. */
    clock,
    /** Lets time pass: blockhashes expire after 60 s, blocks are final after 13 s. */
    pass: (milliseconds: number) => void (passedMs += milliseconds),
    /** For `aService({ env })`: the sponsor's key is `sponsor`. */
    env: {
      ALMONER_NETWORK: "local",
      ALMONER_SOLANA_RPC_URLS: served.url,
      ALMONER_FEE_PAYER_KEY: sponsorKey,
    },
    /** The chain as donations see it, over HTTP. Opened with the sponsor, unless `sponsorKey` is null. */
    open: async (settings: Partial<ChainSettings> = {}): Promise<OpenChain> => {
      const opened = await openChain({
        network: "local",
        rpcUrls: [served.url],
        sponsorKey,
        commitment: "confirmed",
        clock,
        ...settings,
      });
      if (!opened.ok) throw new Error(opened.failure.message);
      return opened.value;
    },
    sponsor,
    /** A wallet with SOL and USDC, 1 SOL and 1,000 USDC unless the test says otherwise. */
    donor: (has?: { sol?: number; usdc?: string }): Donor => aDonor(ledger, has),
    /** An address of a nonprofit; it can receive USDC unless `account` is false. */
    wallet: ({ account = true } = {}) => {
      const wallet = Keypair.generate().publicKey;
      if (account) chain.ensure([wallet]);
      return wallet.toBase58();
    },
    /** Puts a transaction on the chain, as another node would. Throws when the chain refuses it. */
    land: ({ bytes }: { bytes: Uint8Array }) => {
      const landed = ledger.send(bytes);
      if ("refused" in landed) throw new Error(`refused: ${JSON.stringify(landed.refused)}`);
      return landed;
    },
    /** Micro-USDC in a wallet's account, 0n without one. */
    usdcOf: (wallet: string) => {
      const account = ledger.account(tokenAccount(new PublicKey(wallet), usdcMint).toBase58());
      return account === null ? 0n : (readTokenAccount(account)?.amount ?? 0n);
    },
    lamportsOf: (address: string) => ledger.account(address)?.lamports ?? 0,
    stop: async () => {
      await served.stop();
      chain.close();
    },
  };
}

export const theChain = forFile(aChain);

const lamportsPerSol = 1_000_000_000n;
