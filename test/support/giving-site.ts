import { PublicKey } from "@solana/web3.js";
import type { Context } from "#api/context.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type PayLink, readPayLink } from "#scripts/chain/client-commands.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { openDrawing } from "#scripts/start/drawing.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { aRenderer } from "./compiled-site.ts";
import { aChain } from "./local-chain.ts";
import { aDirectory, publisherFolders } from "./publisher.ts";
import { aService } from "./service.ts";
import { serveHere } from "#test/support/serve-here.ts";

export type GivingSite = Awaited<ReturnType<typeof aGivingSite>>;

/**
 * The whole directory on a port: its published pages, the service behind them, and a local chain, which keeps real time,
 * because pages do. `nonprofits` are told of a wallet that can receive USDC; beside them there are this many of the sample,
 * whose wallets can.
 */
export async function aGivingSite(
  nonprofits: (wallet: string) => Partial<NonprofitRecord>[],
  context: Partial<Context> = {},
  env: Record<string, string> = {},
  sample = 0,
) {
  const chain = await aChain({ now: () => new Date() });
  const directory = await aDirectory(nonprofits(chain.wallet()), { searchIndex: sample > 0 });
  if (sample > 0) {
    await seedDirectory(directory.store, { profiles: sample, seedNumber: 1 });
    const paid = "SELECT usdc_wallet FROM nonprofits WHERE usdc_wallet IS NOT NULL";
    const { rows } = await directory.store.raw.execute(paid);
    chain.chain.ensure(rows.map((row) => new PublicKey(String(row["usdc_wallet"]))));
  }
  await directory.publisher.buildAll({ processes: 0 });
  if (sample > 0) await directory.drain();
  const place = { dataDir: directory.dataDir, baseUrl: "https://almoner.example" } as const;
  const draw = openDrawing({ ...place, network: "local" }, aRenderer);
  const service = await aService({
    env: { ...chain.env, ...env },
    context: { store: directory.store, clock: chain.clock, draw, ...context },
  });
  const reader = openBundleReader(publisherFolders(directory.dataDir).bundle);
  const bundle = createBundleServer(reader);
  let other: ((request: Request) => Response | null) | null = null;
  const server = serveHere(
    (request) =>
      other?.(request) ?? bundle.answer(request) ?? service.app.handle(request, "127.0.0.1"),
  );
  return {
    origin: `http://127.0.0.1:${server.port}`,
    chain,
    directory,
    service,
    /** What the service is asked from now on is answered by this instead; null ends that. */
    answerWith: (answer: typeof other) => {
      other = answer;
    },
    /** Pays as a wallet does that opened this Solana Pay link. Answers the signature. */
    pay: (link: string, changes: Partial<PayLink> = {}) => {
      const asked = readPayLink(link);
      if (asked === null) throw new Error(`${link} is no Solana Pay link`);
      const { to, amount = "1", memo, references } = { ...asked, ...changes };
      const paying = { to, usdc: amount, references, ...(memo === undefined ? {} : { memo }) };
      return chain.land(chain.donor().pay(paying)).signature;
    },
    close: async () => {
      await server.stop(true);
      service.close();
      reader.close();
      directory.close();
      await chain.stop();
    },
  };
}
