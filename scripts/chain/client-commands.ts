import { Connection, Keypair } from "@solana/web3.js";
import type { Config } from "#api/config.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { microUsdcFrom } from "#content/donation/money.ts";
import { configOrExit, stopWith } from "#scripts/support/config.ts";
import { chainFiles, notedAddress, portDefault } from "./address-file.ts";
import { buildPayment } from "./paying.ts";
import { refuseElsewhere } from "./serve-command.ts";

type Common = { url?: string | undefined; json?: boolean | undefined };

/** Gives a wallet SOL and USDC. */
export async function faucet(
  args: Common & { wallet: string; sol: string; usdc: string },
): Promise<void> {
  const { wallet, sol, usdc } = args;
  const { signature } = await ask<{ signature: string }>(args, "/faucet", { wallet, sol, usdc });
  say(
    args,
    { wallet, sol, usdc, signature },
    `${wallet} got ${sol} SOL and ${usdc} USDC: ${signature}`,
  );
}

export type SendArgs = Common & {
  link?: string | undefined;
  to?: string | undefined;
  amount?: string | undefined;
  memo?: string | undefined;
  reference?: string | undefined;
};

/** Pays USDC from a new donor wallet. */
export async function send(args: SendArgs): Promise<void> {
  const link = linkIn(args);
  const to = args.to ?? link.to ?? stopWith("Give --to <wallet>, or a Solana Pay link.", 2);
  const text = args.amount ?? link.amount ?? "1";
  const amount = microUsdcFrom(text);
  if (amount === null || amount === 0n) return stopWith("--amount: give USDC, like 2.50.", 2);
  const memo = args.memo ?? link.memo;
  const references = args.reference?.split(",") ?? link.references ?? [];
  const url = addressOf(args);
  const paid = await orExit(url, () => payAsDonor(url, { to, usdc: text, memo, references }));
  if (!paid.ok) return stopWith(`The chain refused the payment: ${paid.failure}`);
  const { tx_signature, donor } = paid.value;
  say(
    args,
    { tx_signature, donor, to, amount_usdc: text },
    `${donor} paid ${text} USDC to ${to}.\ntx_signature ${tx_signature}`,
  );
}

function linkIn({ link }: SendArgs): Partial<PayLink> {
  if (link === undefined) return {};
  return (
    readPayLink(link) ??
    stopWith(
      "This is not a Solana Pay transfer link: send one that begins with solana: and an address.",
      2,
    )
  );
}

/** Shows what goes wrong, or sets it. */
export async function chaos(
  args: Common & { off?: boolean | undefined; set: Record<string, number> },
): Promise<void> {
  const change = args.off === true || Object.keys(args.set).length > 0;
  const now = await ask<object>(args, "/chaos", change ? args.set : null);
  console.log(JSON.stringify(now, null, args.json === true ? 0 : 2));
}

function say({ json }: Common, value: object, text: string): void {
  console.log(json === true ? JSON.stringify(value) : text);
}

/** Where the chain is: as said, as the running one noted, or where it is by default. */
function addressOf({ url }: Common): string {
  const config: Config = configOrExit();
  refuseElsewhere(config);
  const noted = notedAddress(chainFiles(config).address);
  return url ?? noted ?? `http://127.0.0.1:${config.localChainPort ?? portDefault}`;
}

async function ask<Answer>(args: Common, path: string, body: object | null): Promise<Answer> {
  const url = addressOf(args);
  const response = await orExit(url, () =>
    body === null
      ? fetch(`${url}${path}`)
      : fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) }),
  );
  const answer = (await response.json().catch(() => ({}))) as Answer & { error?: string };
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

export type Gift = {
  to: string;
  usdc: string;
  memo?: string | undefined;
  references: readonly string[];
};

const looksMax = 100;
const lookEveryMs = 100;

/** Pays from a new wallet that the faucet filled, over the RPC as a wallet does, and waits until it is confirmed. */
export async function payAsDonor(
  url: string,
  { to, usdc, memo: text, references }: Gift,
): Promise<Result<{ tx_signature: string; donor: string }, string>> {
  const donor = Keypair.generate();
  await fetch(`${url}/faucet`, {
    method: "POST",
    body: JSON.stringify({ wallet: donor.publicKey.toBase58(), sol: 0.1, usdc }),
  });
  const connection = new Connection(url, "confirmed");
  const { blockhash } = await connection.getLatestBlockhash();
  const paying = { to, usdc, references, makeAccount: true, computeUnits: null, unitPrice: null };
  const memos = text === undefined ? {} : { memo: text };
  const { bytes } = buildPayment(donor, { ...paying, ...memos }, blockhash);
  const tx_signature = await connection.sendRawTransaction(bytes);
  for (let look = 0; look < looksMax; look++) {
    const { value } = await connection.getSignatureStatus(tx_signature);
    if (value?.err) return fail(JSON.stringify(value.err));
    if (value !== null && value.confirmationStatus !== "processed") {
      return ok({ tx_signature, donor: donor.publicKey.toBase58() });
    }
    await Bun.sleep(lookEveryMs);
  }
  return fail(`${tx_signature} was not confirmed within ${(looksMax * lookEveryMs) / 1_000} s`);
}

/** What a Solana Pay transfer request asks for. Source: Solana Pay, Transfer Request. */
export type PayLink = {
  to: string;
  amount: string | undefined;
  memo: string | undefined;
  references: string[];
};

/** Reads one; null for any other text. */
export function readPayLink(text: string): PayLink | null {
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
