import type { Config } from "#api/config.ts";
import { openSponsor } from "#api/chain/payment.ts";
import { sponsorKeyOf } from "#api/secrets.ts";
import { PublicKey } from "@solana/web3.js";
import { z } from "zod";
import { configOrExit, stopSignal, stopWith } from "../support/config.ts";
import { Chaos } from "./chaos.ts";
import { chainFiles, noteAddress, portDefault } from "./address-file.ts";
import { JournalTaken } from "./ledger.ts";
import { type LocalChain, type LocalChainOptions, openLocalChain } from "./local-chain.ts";
import { type Served, serveLocalChain } from "./serve.ts";

export type ServeOptions = {
  port?: string | undefined;
  anyPort: boolean;
  keep: boolean;
  chaos: unknown;
};

const lamportsPerSol = 1_000_000_000n;
/** About a million sponsored donations. */
const sponsorSol = 10n;

/** Runs the local chain until it is asked to stop, or until the process that started it is gone. */
export async function serve({ port, anyPort, keep, chaos }: ServeOptions): Promise<void> {
  const config = configOrExit();
  refuseElsewhere(config);
  const stop = stopSignal();
  const files = chainFiles(config);
  const chain = openOrExit({ journal: keep ? files.journal : null, chaos });
  const served = listenOrExit(chain, portOf(port, config), anyPort);
  fundSponsor(chain, config);
  const forget = keep ? noteAddress(files.address, served.url) : () => {};
  tell(chain, served);
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve());
    process.on("disconnect", () => resolve());
  });
  forget();
  await served.stop();
  chain.close();
  process.exit(0);
}

/** A local chain beside a real network would be taken for it. */
export function refuseElsewhere({ network }: Pick<Config, "network">): void {
  if (network !== "local") {
    stopWith(`ALMONER_NETWORK is ${network}: the local chain is for ALMONER_NETWORK=local.`, 2);
  }
}

function portOf(port: string | undefined, config: Config): number {
  const asked = port === undefined ? (config.localChainPort ?? portDefault) : Number(port);
  if (!Number.isInteger(asked) || asked < 0 || asked > 65_535) {
    stopWith("--port: give a whole number from 0 to 65535.", 2);
  }
  return asked;
}

function openOrExit(options: LocalChainOptions): LocalChain {
  const chaos = Chaos.safeParse(options.chaos);
  if (!chaos.success) return stopWith(z.prettifyError(chaos.error), 2);
  try {
    return openLocalChain(options);
  } catch (error) {
    if (!(error instanceof JournalTaken)) throw error;
    return stopWith("The local chain of this data folder is already running.");
  }
}

function listenOrExit(chain: LocalChain, port: number, anyPort: boolean): Served {
  try {
    return serveLocalChain(chain, port);
  } catch {
    if (anyPort) return serveLocalChain(chain, 0);
    return stopWith(
      `Cannot listen on 127.0.0.1:${port}: is something else listening there? --port 0 takes a free port.`,
    );
  }
}

/** The account that pays for donors must be able to. */
function fundSponsor(chain: LocalChain, config: Config): void {
  const key = sponsorKeyOf(config);
  const sponsor = key === null ? null : openSponsor(key);
  if (sponsor === null) return;
  const has = BigInt(chain.ledger.account(sponsor.address)?.lamports ?? 0);
  const lamports = sponsorSol * lamportsPerSol;
  if (has < lamports / 2n) chain.give({ wallet: new PublicKey(sponsor.address), lamports });
}

/** To the process that started this one, or to the person who did. */
function tell(chain: LocalChain, { url, port }: Served): void {
  if (process.send !== undefined) {
    process.send({ url, port });
    return;
  }
  const lines = [
    "",
    `A Solana of your own is answering at ${url}: ${chain.ledger.count()} transactions, no real money.`,
    "",
    "  money     bun run chain faucet --wallet <address> --sol 1 --usdc 100",
    "  donate    bun run chain send --to <wallet> --amount 2.50",
    "  trouble   bun run chain chaos --errors 20",
    "",
    "Ctrl-C stops.",
  ];
  console.log(lines.join("\n"));
}
