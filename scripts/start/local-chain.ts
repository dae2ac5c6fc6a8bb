import { join } from "node:path";
import type { Config } from "#api/config.ts";
import { chainFiles, notedAddress, whyNoChain } from "#scripts/chain/installed.ts";
import { superviseChild } from "#content/runtime/supervised-child.ts";
import type { OpenChain } from "#api/chain/open-chain.ts";

/** The local chain beside the service. */
export type RunningChain = NonNullable<Awaited<ReturnType<typeof startLocalChain>>>;

const readyWithinMs = 5_000;

/**
 * Starts the local chain in a process of its own, or takes the one that runs for this data folder already. One that is
 * slow, or ends, is waited for as long as the service lives. Null when the settings name other RPC nodes, or when this
 * installation has no local chain: the directory goes on without donations then.
 */
export async function startLocalChain(config: Config, onTrouble: (message: string) => void) {
  const { localChainPort } = config;
  if (localChainPort === null) return null;
  const running = await runningAlready(config);
  // Of one that somebody else started nothing more is known.
  if (running !== null) return { ...chainAt(running), pid: () => null, stop: async () => {} };
  const missing = whyNoChain();
  if (missing !== null) {
    onTrouble(`${missing} Until then no one can give.`);
    return null;
  }
  // Chosen here, so that the service knows the address of a chain that comes up late.
  const port = freePort(localChainPort);
  const child = superviseChild<{ url: string }>({
    script: join(import.meta.dirname, "../chain.ts"),
    env: { ...process.env, ALMONER_DATA_DIR: config.dataDir },
    args: () => ["--port", String(port)],
    onEnd: ({ cause, againInMs }) =>
      onTrouble(
        `The local chain ended (${cause}) and is started again in ${againInMs / 1_000} s. Donations wait for it.`,
      ),
  });
  const first = await Promise.race([child.ready, Bun.sleep(readyWithinMs).then(() => null)]);
  if (first === null) {
    onTrouble("The local chain takes longer to come up. Donations wait for it.");
  }
  return { ...child, ...chainAt(`http://127.0.0.1:${port}`) };
}

/** The port that was asked for, or a free one when it is taken. */
function freePort(asked: number): number {
  const listenOn = (port: number) =>
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => {} } });
  let probe: ReturnType<typeof listenOn>;
  try {
    probe = listenOn(asked);
  } catch {
    probe = listenOn(0);
  }
  const { port } = probe;
  probe.stop(true);
  return port;
}

const lookAgainAfterMs = 500;
/** Where none listens, that is known at once; a busy one gets time, for a second beside it would only be refused. */
const answersWithinMs = 5_000;

/** One that was started by hand. That of a killed service is about to end, and gets the time to. */
async function runningAlready(config: Config): Promise<string | null> {
  const url = notedAddress(chainFiles(config).address);
  if (url === null) return null;
  const answers = () => isOk(`${url}/health`, answersWithinMs);
  if (!(await answers())) return null;
  await Bun.sleep(lookAgainAfterMs);
  return (await answers()) ? url : null;
}

const isOk = (url: string, withinMs: number, init: RequestInit = {}): Promise<boolean> =>
  fetch(url, { ...init, signal: AbortSignal.timeout(withinMs) }).then(
    ({ ok }) => ok,
    () => false,
  );

const ensureWithinMs = 1_000;

function chainAt(url: string) {
  const made = new Set<string>();
  return {
    url,
    /** Lets every wallet that is asked about receive: on this chain no one else would make its token account. */
    withAccounts: (chain: OpenChain): OpenChain => ({
      ...chain,
      canReceive: async (wallet) => {
        const init = { method: "POST", body: JSON.stringify({ wallets: [wallet] }) };
        if (!made.has(wallet) && (await isOk(`${url}/ensure`, ensureWithinMs, init)))
          made.add(wallet);
        return chain.canReceive(wallet);
      },
    }),
  };
}
