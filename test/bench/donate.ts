import { Keypair, PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import { openChain } from "#api/chain/open-chain.ts";
import { PaymentRequirements } from "#content/contract/donation.ts";
import { type BuiltTransaction, buildPayment } from "#scripts/chain/instructions.ts";
import { type LocalChain, openLocalChain, serveLocalChain } from "#scripts/chain/local-chain.ts";
import { type Figure, figure, quantile, runBench, serving } from "./support/harness.ts";
import { newClient, post, type Request, send } from "./support/load.ts";
import { column, serve, type Served } from "./support/serve.ts";

type Bench = { chain: LocalChain; service: Served; slugs: string[] };

/** Nonprofits that can receive. */
async function payees({ store }: Served, chain: LocalChain): Promise<string[]> {
  const where = "WHERE usdc_wallet IS NOT NULL ORDER BY id LIMIT 50";
  const wallets = await column(store, `SELECT usdc_wallet FROM nonprofits ${where}`);
  chain.ensure(wallets.map((wallet) => new PublicKey(wallet)));
  return column(store, `SELECT slug FROM nonprofits ${where}`);
}

const donatePath = ({ slugs }: Bench, at: number): string =>
  `/api/donate/${slugs[at % slugs.length] ?? ""}`;

/** How many demands for payment are answered in a second. */
async function demands(bench: Bench, count: number): Promise<Figure> {
  const requests = Array.from({ length: count }, (_, at) => ({
    path: `${donatePath(bench, at)}?amount=${1 + (at % 90) / 10}`,
  }));
  const how = { atOnce: 16, expected: [402] };
  await send(bench.service.url, requests.slice(0, count / 4), how);
  const { perSecond } = await send(bench.service.url, requests, how);
  return figure("402 answers", perSecond, "/s", { least: 5_000 });
}

/** A donor who has signed, or has paid also, and only has to say so. */
async function proof(bench: Bench, kind: "signature" | "sponsored", at: number): Promise<Request> {
  const path = donatePath(bench, at);
  const answer = await fetch(bench.service.url + path, { headers: newClient() });
  const asked = PaymentRequirements.parse(await answer.json());
  if (kind === "signature") return post(path, { tx_signature: paid(bench.chain, asked) });
  const feePayer = asked.accepts[0]?.extra.feePayer ?? "";
  const { base64 } = payment(bench.chain, asked, { feePayer });
  const header = {
    x402Version: 1,
    scheme: "exact",
    network: "solana-devnet",
    payload: { transaction: base64 },
  };
  const text = Buffer.from(JSON.stringify(header)).toString("base64");
  return { path, headers: { "x-payment": text } };
}

function payment(
  chain: LocalChain,
  { recipient, amount_atomic, memo }: PaymentRequirements,
  how: { feePayer?: string } = {},
): BuiltTransaction {
  const donor = Keypair.generate();
  chain.give({ wallet: donor.publicKey, lamports: 10_000_000n, usdc: 1_000_000n });
  const { slots } = chain.ledger;
  const paying = { to: recipient, amount: BigInt(amount_atomic), memo, ...how };
  return buildPayment(donor, paying, slots.blockhash(slots.now()));
}

/** Pays, and answers the signature. */
function paid(chain: LocalChain, asked: PaymentRequirements): string {
  const { bytes, signature } = payment(chain, asked);
  const sent = chain.ledger.send(bytes);
  if ("refused" in sent) throw new Error(`refused: ${JSON.stringify(sent.refused)}`);
  return signature;
}

/** How long the answer to a proof takes, from post to 200. */
async function settlements(
  bench: Bench,
  kind: "signature" | "sponsored",
  count: number,
): Promise<Figure[]> {
  const proofs: Request[] = [];
  for (let at = 0; at < count; at++) proofs.push(await proof(bench, kind, at));
  const { timesMs } = await send(bench.service.url, proofs, { atOnce: 4 });
  return [
    figure(`recorded by ${kind}: p50`, quantile(timesMs, 0.5), "ms"),
    figure(`recorded by ${kind}: p99`, quantile(timesMs, 0.99), "ms", { most: 150 }),
  ];
}

/** A node of the chain that is as far away as hosted ones are: this long for each answer. */
const nodeFarAway = (chain: LocalChain, answerMs: number) =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body = await request.text();
      await Bun.sleep(answerMs);
      return chain.rpc(body, request.signal);
    },
  });

/** How long it takes to look at transactions when two nodes have to agree, and when one is believed. */
async function quorum(chain: LocalChain, count: number, answerMs: number): Promise<Figure[]> {
  const nodes = [nodeFarAway(chain, answerMs), nodeFarAway(chain, answerMs)];
  const urls = nodes.map(({ port }) => `http://127.0.0.1:${port}`);
  const open = async (rpcUrls: string[]) => {
    const settings = {
      sponsorKey: null,
      commitment: "confirmed",
      clock: () => new Date(),
    } as const;
    const opened = await openChain({ network: "local", rpcUrls, ...settings });
    if (!opened.ok) throw new Error(opened.failure.message);
    return opened.value;
  };
  const chains = { one: await open(urls.slice(0, 1)), two: await open(urls) };
  const timesMs: Record<keyof typeof chains, number[]> = { one: [], two: [] };
  for (let at = 0; at < count; at++) {
    const signature = chain.give({ wallet: Keypair.generate().publicKey, usdc: 1_000_000n });
    // In turns, so that both meet the same disturbances.
    for (const name of ["one", "two"] as const) {
      const beganMs = performance.now();
      const landed = await chains[name].landed(signature);
      if (!landed.ok || landed.value === null) throw new Error("not landed");
      timesMs[name].push(performance.now() - beganMs);
    }
  }
  for (const node of nodes) await node.stop(true);
  const one = quantile(timesMs.one, 0.5);
  const two = quantile(timesMs.two, 0.5);
  return [
    figure(`a transaction, by one node ${answerMs} ms away: p50`, one, "ms"),
    figure(`the same, by two that agree: p50`, two, "ms"),
    figure("two to one", two / one, "", { most: 1.5 }),
  ];
}

await runBench({
  name: "donate",
  description:
    "Demands for payment, donations recorded and nodes that have to agree, on a local chain, its own work included",
  options: {
    ...serving,
    profiles: [2_000, "Profiles of the sample directory"],
    demands: [2_000, "402 answers that are measured"],
    settlements: [300, "Donations of each kind"],
    node: [20, "How far away the nodes of the quorum are, in milliseconds"],
  },
  run: async (given) => {
    const chain = openLocalChain({ slots: { confirmedAfter: 0, finalizedAfter: 32 } });
    const rpc = serveLocalChain(chain, 0);
    const sponsor = Keypair.generate();
    chain.give({ wallet: sponsor.publicKey, lamports: 10_000_000_000n });
    const env = {
      ALMONER_NETWORK: "local",
      ALMONER_SOLANA_RPC_URLS: rpc.url,
      ALMONER_FEE_PAYER_KEY: bs58.encode(sponsor.secretKey),
      ALMONER_TRUSTED_HOPS: "1",
    };
    try {
      await using service = await serve({ ...given, env });
      const bench = { chain, service, slugs: await payees(service, chain) };
      const figures = [
        await demands(bench, given.demands),
        ...(await settlements(bench, "signature", given.settlements)),
        ...(await settlements(bench, "sponsored", given.settlements)),
        ...(await quorum(chain, given.settlements, given.node)),
      ];
      return { title: "Donations on the local chain", figures };
    } finally {
      await rpc.stop();
      chain.close();
    }
  },
});
