import { Keypair, PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import { defineCommand } from "citty";
import type { PaymentRequirements } from "#content/contract/donation.ts";
import { type LocalChain, openLocalChain, serveLocalChain } from "../chain/local-chain.ts";
import { type Built, buildPayment } from "../chain/instructions.ts";
import { runCommand } from "../support/command.ts";
import { type Figure, printFigures, quantile } from "./support/figures.ts";
import { sendAll } from "./support/load.ts";
import { type ServedService, serveService } from "./support/served.ts";

const command = defineCommand({
  meta: {
    name: "bench donate",
    description:
      "Demands for payment, settlements and one signature a thousand times, on a local chain",
  },
  args: {
    profiles: { type: "string", default: "2000", description: "Profiles of the sample directory" },
    demands: { type: "string", default: "2000", description: "402 answers that are measured" },
    settlements: { type: "string", default: "300", description: "Donations of each kind" },
    port: { type: "string", default: "18433", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const chain = openLocalChain({ slots: { confirmedAfter: 0, finalizedAfter: 32 } });
    const served = serveLocalChain(chain, 0);
    const sponsor = Keypair.generate();
    chain.give({ wallet: sponsor.publicKey, lamports: 10_000_000_000n });
    const service = await serveService({
      profiles: Number(args.profiles),
      port: Number(args.port),
      env: {
        ALMONER_NETWORK: "local",
        ALMONER_SOLANA_RPC_URLS: served.url,
        ALMONER_FEE_PAYER_KEY: bs58.encode(sponsor.secretKey),
        ALMONER_TRUSTED_HOPS: "1",
      },
    });
    try {
      const bench = { chain, service, payees: await payeesOf(service, chain) };
      const figures = [
        await demands(bench, Number(args.demands)),
        ...(await settlements(bench, "signature", Number(args.settlements))),
        ...(await settlements(bench, "sponsored", Number(args.settlements))),
        ...(await thousandfold(bench)),
      ];
      printFigures(
        "Donations on the local chain, its own work included",
        figures,
        args.json === true,
      );
    } finally {
      await service.close();
      await served.stop();
      chain.close();
    }
  },
});

type Payee = { slug: string; usdc_wallet: string };
type Bench = { chain: LocalChain; service: ServedService; payees: Payee[] };

const payeesMax = 50;

/** Nonprofits with a wallet, which can receive. */
async function payeesOf({ store }: ServedService, chain: LocalChain): Promise<Payee[]> {
  const { rows } = await store.raw.execute(
    `SELECT slug, usdc_wallet FROM nonprofits WHERE usdc_wallet IS NOT NULL LIMIT ${payeesMax}`,
  );
  const payees = rows.map((row) => ({
    slug: String(row["slug"]),
    usdc_wallet: String(row["usdc_wallet"]),
  }));
  chain.ensure(payees.map(({ usdc_wallet }) => new PublicKey(usdc_wallet)));
  return payees;
}

const perSecondMin = 5_000;

/** How many demands for payment are answered in a second. */
async function demands({ service, payees }: Bench, count: number): Promise<Figure> {
  const urls = Array.from({ length: count }, (_, at) => {
    const { slug = "" } = payees[at % payees.length] ?? {};
    return `${service.url}/api/donate/${slug}?amount=${1 + (at % 90) / 10}`;
  });
  const how = { concurrency: 16, status: 402, manyClients: true };
  await sendAll(urls.slice(0, count / 4), how);
  const { perSecond } = await sendAll(urls, how);
  return {
    what: "402 answers",
    measured: `${perSecond.toFixed(0)} /s`,
    asked: `≥ ${perSecondMin} /s`,
    met: perSecond >= perSecondMin,
  };
}

const settleConcurrency = 4;
const settleP99MaxMs = 150;

/** How long the answer to a proof takes, from post to 200. */
async function settlements(
  bench: Bench,
  kind: "signature" | "sponsored",
  count: number,
): Promise<Figure[]> {
  const timesMs: number[] = [];
  const prepared: (() => Promise<Response>)[] = [];
  for (let at = 0; at < count; at++) prepared.push(await prepare(bench, kind, at));
  const settle = async () => {
    for (let post = prepared.pop(); post !== undefined; post = prepared.pop()) {
      const sentMs = performance.now();
      const response = await post();
      timesMs.push(performance.now() - sentMs);
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: settleConcurrency }, settle));
  const p99 = quantile(timesMs, 0.99);
  return [
    {
      what: `settled by ${kind}, p50`,
      measured: `${quantile(timesMs, 0.5).toFixed(1)} ms`,
      asked: "no figure asked",
      met: null,
    },
    {
      what: `settled by ${kind}, p99`,
      measured: `${p99.toFixed(1)} ms`,
      asked: `≤ ${settleP99MaxMs} ms`,
      met: p99 <= settleP99MaxMs,
    },
  ];
}

/** A donor who has paid, or signed, and only has to tell. */
async function prepare(
  bench: Bench,
  kind: "signature" | "sponsored",
  at: number,
): Promise<() => Promise<Response>> {
  const { service, payees, chain } = bench;
  const { slug = "" } = payees[at % payees.length] ?? {};
  const url = `${service.url}/api/donate/${slug}`;
  const asked = (await (await fetch(url, { headers: client() })).json()) as PaymentRequirements;
  if (kind === "signature") {
    const { signature } = landed(chain, payment(chain, asked));
    return () => prove(url, signature);
  }
  const feePayer = asked.accepts[0]?.extra.feePayer ?? "";
  const { base64 } = payment(chain, asked, { feePayer });
  const header = {
    x402Version: 1,
    scheme: "exact",
    network: "solana-devnet",
    payload: { transaction: base64 },
  };
  const text = Buffer.from(JSON.stringify(header)).toString("base64");
  return () => fetch(url, { headers: { "x-payment": text, ...client() } });
}

function payment(
  chain: LocalChain,
  { recipient, amount_atomic, memo }: PaymentRequirements,
  how: { feePayer?: string } = {},
): Built {
  const donor = Keypair.generate();
  chain.give({ wallet: donor.publicKey, lamports: 10_000_000n, usdc: 1_000_000n });
  const { slots } = chain.ledger;
  const paying = { to: recipient, amount: BigInt(amount_atomic), memo, ...how };
  return buildPayment(donor, paying, slots.blockhash(slots.now()));
}

function landed({ ledger }: LocalChain, built: Built): Built {
  const sent = ledger.send(built.bytes);
  if ("refused" in sent) throw new Error(`refused: ${JSON.stringify(sent.refused)}`);
  return built;
}

let clients = 0;
const client = () => ({ "x-forwarded-for": `172.16.${(clients >> 8) & 255}.${clients++ & 255}` });

const prove = (url: string, tx_signature: string): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...client() },
    body: JSON.stringify({ tx_signature }),
  });

const posts = 1_000;
const allWithinMs = 2_000;

/** One signature, a thousand times at once: all hear of one donation. */
async function thousandfold(bench: Bench): Promise<Figure[]> {
  const { service, chain, payees } = bench;
  const url = `${service.url}/api/donate/${payees[0]?.slug ?? ""}`;
  const asked = (await (await fetch(url, { headers: client() })).json()) as PaymentRequirements;
  const { signature } = landed(chain, payment(chain, asked));
  const beganMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: posts }, async () => {
      const response = await prove(url, signature);
      return { status: response.status, body: await response.text() };
    }),
  );
  const tookMs = performance.now() - beganMs;
  const { rows } = await service.store.raw.execute({
    sql: "SELECT count(*) AS n FROM donations WHERE tx_signature = ?",
    args: [signature],
  });
  const donations = Number(rows[0]?.["n"]);
  const alike = new Set(answers.map(({ status, body }) => `${status} ${body}`)).size;
  return [
    {
      what: `${posts} posts of one signature at once`,
      measured: `${tookMs.toFixed(0)} ms`,
      asked: `≤ ${allWithinMs} ms`,
      met: tookMs <= allWithinMs,
    },
    {
      what: "donations of it; different answers",
      measured: `${donations}; ${alike}`,
      asked: "1; 1",
      met: donations === 1 && alike === 1,
    },
  ];
}

await runCommand(command);
