import { flag, textOption, wordedCommand } from "#scripts/support/command.ts";
import { rmSync, writeFileSync } from "node:fs";
import { PublicKey } from "@solana/web3.js";
import { z } from "zod";
import { openSponsor } from "#api/chain/payment.ts";
import type { Config } from "#api/config.ts";
import { sponsorKeyOf } from "#api/secrets.ts";
import { isDamaged } from "#content/runtime/files.ts";
import { explainStart } from "#content/runtime/start-error.ts";
import { configOrExit, stopSignal, stopWith } from "#scripts/support/config.ts";
import { Chaos } from "./chaos.ts";
import { chainFiles } from "./installed.ts";
import { JournalTaken } from "./journal.ts";
import {
  type LocalChain,
  type LocalChainOptions,
  openLocalChain,
  type LocalChainServer,
  serveLocalChain,
} from "./local-chain.ts";

/** Each failure of the chaos switch as an option: hang_ms becomes --hang-ms. */
export const troubleArgs = Object.fromEntries(
  Object.entries(Chaos.shape).map(([name, shape]) => [
    name.replaceAll("_", "-"),
    { type: "string", description: shape.description ?? name } as const,
  ]),
);

/** The failures named in the options. */
export const troublesIn = (args: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(
    Object.keys(Chaos.shape).flatMap((name) => {
      const value = args[name.replaceAll("_", "-")];
      return typeof value === "string" ? [[name, Number(value)]] : [];
    }),
  );

export const serveArgs = {
  port: textOption,
  memory: flag,
  ...troubleArgs,
} as const;

/** Runs the local chain until it is told to stop, or until the process that started it is gone. */
export const serve = wordedCommand("chain serve", {
  args: serveArgs,
  run: async ({ args }) => {
    const config = localConfigOrExit();
    // Checked before a journal is created or locked.
    const port = portOf(args.port, config);
    const stop = stopSignal();
    const { journal, address } = chainFiles(config);
    const chain = openOrExit({ journal: args.memory ? null : journal, chaos: troublesIn(args) });
    const served = listenOrExit(chain, port);
    fundSponsor(chain, config);
    if (!args.memory) writeFileSync(address, `${served.url}\n`);
    announce(chain, served);
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener("abort", () => resolve());
      process.on("disconnect", () => resolve());
    });
    if (!args.memory) rmSync(address, { force: true });
    await served.stop();
    chain.close();
    process.exit(0);
  },
});

/** The settings. Ends the process for another network, because a local chain could be mistaken for it. */
export function localConfigOrExit(): Config {
  const config = configOrExit();
  if (config.network !== "local") {
    stopWith(
      `ALMONER_NETWORK is ${config.network}: the local chain is for ALMONER_NETWORK=local.`,
      2,
    );
  }
  return config;
}

export const portDefault = 8_899;

function portOf(port: string | undefined, config: Config): number {
  const wantedPort = port === undefined ? (config.localChainPort ?? portDefault) : Number(port);
  if (!Number.isInteger(wantedPort) || wantedPort < 0 || wantedPort > 65_535) {
    stopWith("--port: give a whole number from 0 to 65535.", 2);
  }
  return wantedPort;
}

function openOrExit(options: LocalChainOptions): LocalChain {
  const chaos = Chaos.safeParse(options.chaos);
  if (!chaos.success) return stopWith(z.prettifyError(chaos.error), 2);
  try {
    return openLocalChain(options);
  } catch (error) {
    if (isDamaged(error)) {
      return stopWith(
        `${options.journal} is damaged. Restore it from a backup, or move it away: then a new chain begins, without the gifts of this one.`,
      );
    }
    if (!(error instanceof JournalTaken)) return explainStart(error, options.journal ?? "memory");
    return stopWith("The local chain of this data folder is already running.");
  }
}

function listenOrExit(chain: LocalChain, port: number): LocalChainServer {
  try {
    return serveLocalChain(chain, port);
  } catch {
    return stopWith(
      `Cannot listen on 127.0.0.1:${port}: is something else listening there? --port 0 takes a free port.`,
    );
  }
}

const lamportsPerSol = 1_000_000_000n;
/** Enough for about a million sponsored donations. */
const sponsorLamports = 10n * lamportsPerSol;

/** Funds the account that pays network fees for donors. */
function fundSponsor(chain: LocalChain, config: Config): void {
  const key = sponsorKeyOf(config);
  const sponsor = key === null ? null : openSponsor(key);
  if (sponsor === null) return;
  const has = BigInt(chain.ledger.account(sponsor.address)?.lamports ?? 0);
  if (has >= sponsorLamports / 2n) return;
  chain.give({ wallet: new PublicKey(sponsor.address), lamports: sponsorLamports });
}

/** Tells the process that started this one, or else the person at the terminal. */
function announce(chain: LocalChain, { url, port, nextPort }: LocalChainServer): void {
  if (process.send !== undefined) {
    process.send({ url, port });
    return;
  }
  const lines = [
    "",
    `A Solana of your own is answering at ${url}: ${chain.ledger.count()} transactions, no real money.`,
    ...(nextPort
      ? []
      : [
          `Port ${port + 1} is taken: @solana/web3.js, which looks for sockets there, cannot subscribe.`,
        ]),
    "",
    "  money     bun run chain faucet --wallet <address> --sol 1 --usdc 100",
    "  donate    bun run chain send --to <wallet> --amount 2.50",
    "  trouble   bun run chain chaos --errors 20",
    "",
    "Ctrl-C stops.",
  ];
  console.log(lines.join("\n"));
}
