import { sharedLook } from "#content/runtime/cache.ts";
import { z } from "zod";
import { donationMax } from "#content/contract/base/money.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { DonationNetwork, TransactionFacts } from "#content/contract/transfer.ts";
import { caip2Of, nameOf, networks } from "#content/giving/network.ts";
import {
  type Endpoint,
  type RpcOptions,
  WrongChain,
  askFor,
  openEndpoint,
  openRpc,
  valueOf,
} from "./rpc.ts";
import { canExist, findLanded, lookups, openTokenAccounts } from "./lookups.ts";
import { openSponsor, readPayment, send, simulate } from "./payment.ts";
import { singleFlight } from "#content/runtime/concurrency.ts";
import { unsignedPayment } from "./transfer.ts";
import type {
  ChainUnclear,
  NotSponsored,
  Payment,
  UnsignedPayment,
} from "#content/giving/world.ts";

type Level = "confirmed" | "finalized";

export type ChainSettings = RpcOptions & {
  network: DonationNetwork;
  /** The best one first. */
  rpcUrls: readonly string[];
  /** Secret key of 64 bytes, base58 or a JSON array; null for none. */
  sponsorKey: string | null;
  /** The default commitment of `landed`. */
  commitment: Level;
  clock: () => Date;
  /** How long the start waits for nodes to name their chain. */
  bootMs?: number;
};

/** Settings that the service must not start with; the message names the setting. */
export type BadChain = { kind: "wrong_chain" | "bad_sponsor_key"; message: string };

const bootMsDefault = 2_500;

/**
 * Opens the chain of a network. Fails when a node serves another chain. Nodes that cannot be reached now are asked when
 * needed; until one has shown the right genesis hash, every answer is unclear.
 */
export async function openChain(settings: ChainSettings) {
  const { network, sponsorKey, commitment, clock, bootMs = bootMsDefault } = settings;
  const cluster = networks[network];
  const sponsor = sponsorKey === null ? null : openSponsor(sponsorKey);
  if (sponsorKey !== null && sponsor === null) {
    return fail<BadChain>({
      kind: "bad_sponsor_key",
      message:
        "ALMONER_FEE_PAYER_KEY: send a base58 secret key of 64 bytes, whose second half is the public key",
    });
  }
  const endpoints = settings.rpcUrls.map((url) => openEndpoint(url, cluster.genesis));
  const wrong = await wrongNode(endpoints, bootMs, settings.onTrouble);
  if (wrong !== null) {
    return fail<BadChain>({
      kind: "wrong_chain",
      message: `ALMONER_SOLANA_RPC_URLS: ${wrong.host} serves ${nameOf(wrong.genesis)} (genesis ${wrong.genesis}), but ALMONER_NETWORK is ${network}`,
    });
  }
  const rpc = openRpc(endpoints, settings);
  const health = sharedLook(healthKnownMs, async (): Promise<ChainHealth> => {
    const beganMs = performance.now();
    const answer = await askFor(rpc, "getSlot", [{ commitment: "confirmed" }], Slot);
    const why = answer.ok ? null : answer.failure.why;
    return { why, took_ms: Math.round(performance.now() - beganMs) };
  });
  /** The facts of a transaction; unclear if it pays more USDC than exists, because then a node made it up. */
  const landedAt = async (
    txSignature: string,
    at: Level,
  ): Promise<Result<TransactionFacts | null, ChainUnclear>> => {
    const landed = await findLanded(rpc, txSignature, at);
    const credits = landed.ok ? (landed.value?.credits ?? []) : [];
    for (const { mint, amount_micro_usdc } of credits) {
      if (mint !== cluster.mint || amount_micro_usdc <= donationMax) continue;
      const exists = await canExist(rpc, mint, amount_micro_usdc);
      if (!exists.ok) return exists;
      if (exists.value) continue;
      const why = "a transfer of more USDC than there is";
      rpc.contradicted("the nodes asked", "getTransaction", why);
      return fail({ kind: "chain_unclear", why });
    }
    return landed;
  };
  return ok({
    /** Number of independent nodes. With a single one, every answer is believed. */
    nodes: rpc.nodes,
    disagreements: rpc.disagreements,
    durations: rpc.durations,
    cluster: cluster.cluster,
    network: cluster.network,
    caip2: caip2Of(cluster),
    mint: cluster.mint,
    sponsor: sponsor?.address ?? null,
    /** Whether any node answers. Cached for a second; a new look takes at most 2.5 s. */
    health,
    ...openTokenAccounts(rpc, cluster.mint, () => clock().getTime()),
    /** The facts of a transaction, on which two nodes agree. Concurrent requests for the same one share an answer. */
    landed: (txSignature: string, at: Level = commitment) =>
      singleFlight(rpc, `${at} ${txSignature}`, () => landedAt(txSignature, at)),
    readPayment,
    sponsored: (payment: Payment) => sponsor?.sign(payment) ?? fail(noSponsor),
    unsigned: async (donor: string, payment: UnsignedPayment) => {
      const latest = await askFor(rpc, "getLatestBlockhash", [{ commitment: "confirmed" }], Latest);
      if (!latest.ok) return latest;
      const making = { ...payment, makeAccount: true };
      return ok(unsignedPayment(donor, cluster.mint, making, latest.value));
    },
    simulate: (payment: Payment) => simulate(rpc, payment),
    send: (payment: Payment) => send(rpc, payment),
    ...lookups(rpc),
  });
}

/** With the 2.5 s of a call, less than 5 s: after that no one may be asked to pay while the chain is away. */
const healthKnownMs = 1_000;

const Slot = z.int().nonnegative();
const Latest = valueOf(z.object({ blockhash: z.string() })).transform((latest) => latest.blockhash);

/** Why no node answered (null when one did), and how long the question took. */
type ChainHealth = { why: string | null; took_ms: number };

/** The chain as donations need it, with facts for operators. Only files in api/chain know the libraries behind it. */
export type OpenChain = Extract<Awaited<ReturnType<typeof openChain>>, { ok: true }>["value"];

const noSponsor: NotSponsored = {
  kind: "not_sponsored",
  why: "this directory has no sponsor: add ?payer=<your wallet>",
};

/** The first node that serves another chain. A node that is silent now is verified before it is used. */
async function wrongNode(
  endpoints: readonly Endpoint[],
  bootMs: number,
  onTrouble: RpcOptions["onTrouble"],
): Promise<{ host: string; genesis: string } | null> {
  const wrong = await Promise.all(
    endpoints.map(async (endpoint) => {
      try {
        await endpoint.verify(AbortSignal.timeout(bootMs));
        return null;
      } catch (error) {
        if (error instanceof WrongChain) return { host: endpoint.host, genesis: error.genesis };
        const why = error instanceof Error ? error.message : String(error);
        onTrouble?.({ host: endpoint.host, method: "getGenesisHash", why });
        return null;
      }
    }),
  );
  return wrong.find((node) => node !== null) ?? null;
}
