import { forFile } from "./at-file-top.ts";
import type { Context } from "#api/context.ts";
import type { DonationHistory, PaymentRequirements } from "#content/contract/donation.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { aChain, type TestChain, type TestChainOptions } from "./local-chain.ts";
import type { Paying } from "./paying.ts";
import { aNonprofit } from "./records.ts";
import { aClient, aService } from "./service.ts";

export type DonatingService = Awaited<ReturnType<typeof aDonatingService>>;

/**
 * A service that settles on a local chain, with a nonprofit `well` that has a wallet. Each request comes from a client of
 * its own, so that no limit hides an answer.
 */
export async function aDonatingService(
  options: {
    chain?: TestChainOptions;
    env?: Record<string, string>;
    /** Addresses of the nodes that are asked, instead of the chain's own. */
    nodes?: (chain: TestChain, wallet: string) => readonly string[];
    records?: (chain: TestChain) => NonprofitRecord[];
    context?: (chain: TestChain) => Partial<Context>;
  } = {},
) {
  const chain = await aChain(options.chain);
  const wallet = chain.wallet();
  const service = await aService({
    env: {
      ALMONER_TRUSTED_HOPS: "1",
      ...chain.env,
      ...(options.nodes && { ALMONER_SOLANA_RPC_URLS: options.nodes(chain, wallet).join(",") }),
      ...options.env,
    },
    records: [
      aNonprofit({ slug: "well", name: "Well “Wasser” Trust", usdc_wallet: wallet }),
      ...(options.records?.(chain) ?? []),
    ],
    context: { clock: chain.clock, ...options.context?.(chain) },
  });
  let targets = 0;
  return {
    chain,
    service,
    /** Of `well`. */
    wallet,
    /** A nonprofit more, with a wallet: for tests that share a service, and count what is recorded. */
    target: async () => {
      const slug = `target-${++targets}`;
      const usdc_wallet = chain.wallet();
      await service.add(aNonprofit({ slug, usdc_wallet }));
      return { slug, path: `/api/donate/${slug}`, wallet: usdc_wallet };
    },
    /** Ends a test that leaves intents behind, or a chain in trouble. */
    settle: async () => {
      chain.chain.chaos.set({});
      await service.rows("DELETE FROM donation_intents");
    },
    /** What the service asks for. */
    demand: async (path = "/api/donate/well") => {
      const response = await service.get(path, aClient());
      if (response.status !== 402) throw new Error(`${path} answers ${response.status}`);
      return (await response.json()) as PaymentRequirements;
    },
    /** A donor's transaction that pays what was asked for, on the chain. Answers its signature. */
    paid: ({ recipient, amount, memo }: PaymentRequirements, { donor = chain.donor() } = {}) => {
      const payment = donor.pay({ to: recipient, usdc: String(amount), memo });
      chain.land(payment);
      return payment.signature;
    },
    /** A signed payment of what was asked for, as a stock client makes it: the sponsor pays its fee. */
    payment: (demand: PaymentRequirements, how: Partial<Paying> = {}, donor = chain.donor()) => {
      const { recipient: to, amount, memo } = demand;
      const feePayer = chain.sponsor.publicKey.toBase58();
      return donor.pay({ to, usdc: String(amount), memo, feePayer, ...how });
    },
    /** How many donations the history of a nonprofit has. */
    donationCount: async (slug = "well") =>
      ((await service.json(`/api/donations/${slug}`)) as DonationHistory).donation_count,
    /** Hands in a signature. */
    prove: (path: string, tx_signature: unknown) => service.post(path, { tx_signature }, aClient()),
    /** Sends a signed payment in a header. */
    send: (path: string, header: Record<string, string>, method: "GET" | "POST" = "GET") =>
      service.request(path, { method, headers: { ...header, ...aClient() } }),
    stop: async () => {
      service.close();
      await chain.stop();
    },
  };
}

export const theDonatingService = forFile(aDonatingService);

/** A signed transaction as the header of an x402 client. */
export const paymentHeader = (
  bytes: Uint8Array,
  version: 1 | 2,
  network: string,
): Record<string, string> => {
  const payload = { transaction: Buffer.from(bytes).toString("base64") };
  const value =
    version === 1
      ? { x402Version: 1, scheme: "exact", network, payload }
      : { x402Version: 2, accepted: { scheme: "exact", network }, payload };
  const text = Buffer.from(JSON.stringify(value)).toString("base64");
  return version === 1 ? { "x-payment": text } : { "payment-signature": text };
};
