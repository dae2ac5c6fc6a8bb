import { flag, positional, textOption, wordedCommand } from "#scripts/support/command.ts";
import { Connection, Keypair } from "@solana/web3.js";
import { microUsdcFrom } from "#content/contract/base/money.ts";
import { stopWith } from "#scripts/support/config.ts";
import { buildPayment, type Payment } from "./instructions.ts";
import { chainFiles, notedAddress } from "./installed.ts";
import { localConfigOrExit, portDefault, troubleArgs, troublesIn } from "./serve-command.ts";

const common = {
  url: textOption,
  json: flag,
} as const;

export const faucet = wordedCommand("chain faucet", {
  args: {
    wallet: { ...textOption, required: true },
    sol: { ...textOption, default: "1" },
    usdc: { ...textOption, default: "100" },
    ...common,
  },
  run: async ({ args }) => {
    const { wallet, sol, usdc } = args;
    const { signature } = (await control(args, "/faucet", { wallet, sol, usdc })) as {
      signature: string;
    };
    const text = `${wallet} got ${sol} SOL and ${usdc} USDC: ${signature}`;
    console.log(args.json ? JSON.stringify({ wallet, sol, usdc, signature }) : text);
  },
});

export const send = wordedCommand("chain send", {
  args: {
    link: { ...positional, required: false },
    to: textOption,
    amount: textOption,
    memo: textOption,
    reference: textOption,
    ...common,
  },
  run: async ({ args }) => {
    const gift = giftIn(args, linkOrExit(args.link));
    const { to, usdc: amount_usdc } = gift;
    const url = addressOf(args);
    const { tx_signature, donor } = await orExit(url, () => payAsDonor(url, gift));
    const text = `${donor} paid ${amount_usdc} USDC to ${to}.\ntx_signature ${tx_signature}`;
    console.log(args.json ? JSON.stringify({ tx_signature, donor, to, amount_usdc }) : text);
  },
});

export const chaos = wordedCommand("chain chaos", {
  args: {
    off: flag,
    ...troubleArgs,
    ...common,
  },
  run: async ({ args }) => {
    const set = troublesIn(args);
    const isChange = args.off === true || Object.keys(set).length > 0;
    const now = await control(args, "/chaos", isChange ? set : null);
    console.log(JSON.stringify(now, null, args.json ? 0 : 2));
  },
});

type At = { url?: string | undefined };

/** The chain's address: the given one, that of the running chain, or the default. */
function addressOf({ url }: At): string {
  const config = localConfigOrExit();
  const noted = notedAddress(chainFiles(config).address);
  return url ?? noted ?? `http://127.0.0.1:${config.localChainPort ?? portDefault}`;
}

async function control(at: At, path: string, body: object | null): Promise<unknown> {
  const url = addressOf(at);
  const how = body === null ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await orExit(url, () => fetch(`${url}${path}`, how));
  const answer = (await response.json().catch(() => ({}))) as { error?: string };
  if (!response.ok) stopWith(`The local chain refused: ${answer.error ?? response.status}`, 2);
  return answer;
}

async function orExit<Value>(url: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return stopWith(
      `The local chain at ${url} did not answer (${why}). Start it with: bun run chain`,
    );
  }
}

/** The gift in the options, completed from the link. */
function giftIn(
  args: { [Name in "to" | "amount" | "memo" | "reference"]?: string | undefined },
  link: Partial<PayLink>,
): Payment & { usdc: string } {
  const to = args.to ?? link.to;
  if (to === undefined) return stopWith("Give --to <wallet>, or a Solana Pay link.", 2);
  const usdc = args.amount ?? link.amount ?? "1";
  const amount = microUsdcFrom(usdc);
  if (!amount) return stopWith("--amount: give USDC, like 2.50.", 2);
  const references = args.reference?.split(",") ?? link.references ?? [];
  return { to, usdc, amount, memo: args.memo ?? link.memo, references };
}

const looksMax = 100;
const lookEveryMs = 100;

/** Pays over the RPC as a wallet does, from a new wallet filled by the faucet, and waits for confirmation. */
export async function payAsDonor(url: string, gift: Payment & { usdc: string }) {
  const keypair = Keypair.generate();
  const donor = keypair.publicKey.toBase58();
  const body = JSON.stringify({ wallet: donor, sol: 0.1, usdc: gift.usdc });
  await fetch(`${url}/faucet`, { method: "POST", body });
  const connection = new Connection(url, "confirmed");
  const { blockhash } = await connection.getLatestBlockhash();
  const { bytes } = buildPayment(keypair, { ...gift, makeAccount: true }, blockhash);
  const tx_signature = await connection.sendRawTransaction(bytes);
  for (let look = 0; look < looksMax; look++) {
    const { value } = await connection.getSignatureStatus(tx_signature);
    if (value?.err) stopWith(`The chain refused the payment: ${JSON.stringify(value.err)}`);
    if (value !== null && value.confirmationStatus !== "processed") return { tx_signature, donor };
    await Bun.sleep(lookEveryMs);
  }
  return stopWith(`${tx_signature} was not confirmed within ${(looksMax * lookEveryMs) / 1_000} s`);
}

function linkOrExit(link: string | undefined): Partial<PayLink> {
  if (link === undefined) return {};
  const message =
    "This is not a Solana Pay transfer link: send one that begins with solana: and an address.";
  return readPayLink(link) ?? stopWith(message, 2);
}

/** The terms of a Solana Pay transfer request. */
export type PayLink = NonNullable<ReturnType<typeof readPayLink>>;

/** Reads a Solana Pay transfer request; null for any other text. Source: Solana Pay, Transfer Request. */
export function readPayLink(text: string) {
  if (!text.startsWith("solana:") || !URL.canParse(text)) return null;
  const { pathname: to, searchParams } = new URL(text);
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(to)) return null;
  return {
    to,
    amount: searchParams.get("amount") ?? undefined,
    memo: searchParams.get("memo") ?? undefined,
    references: searchParams.getAll("reference"),
  };
}
