import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { refuse } from "#api/http/problem.ts";
import { pathOf, schemaOf } from "#api/http/route.ts";
import { batcher } from "#content/runtime/concurrency.ts";
import { isSolanaAddress } from "#content/contract/wallet.ts";
import { donationOperations as operations } from "#content/contract/operations/donation.ts";
import { walletProblems } from "#content/contract/donation-problems.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { ownersOf } from "#content/onboarding/wallet-owner-store.ts";
import { walletAnswer } from "#content/onboarding/wallet-statement.ts";

/** GET /api/wallets/{address} and POST /api/wallets: whose wallet it is, to be asked before a payment. */
export const walletRoutes = (
  context: Pick<Context, "store" | "clock" | "chain" | "secrets" | "config">,
) => {
  const { store, clock, chain, config } = context;
  const opening = openSigner(context.secrets.signingKey);
  // Those who ask at the same moment share a look at what was.
  const owners = batcher(async (addresses: readonly string[]) => {
    const found = await ownersOf(store, addresses, clock());
    return addresses.map((address) => found.get(address));
  });
  const answerOf = async (address: string) => {
    const said = { issuer: config.baseUrl, cluster: chain.cluster, now: clock() };
    return walletAnswer(address, await owners.ask(address), { ...said, signer: await opening });
  };
  return new Elysia()
    .get(pathOf(operations.getWallet), async ({ params: { address }, set }) => {
      if (!isSolanaAddress(address)) return refuse(walletProblems, { kind: "wallet_malformed" });
      set.headers["cache-control"] = "no-store";
      return answerOf(address);
    })
    .post(
      pathOf(operations.checkWallets),
      async ({ body: { addresses } }) => {
        const wallets = await Promise.all(addresses.map(answerOf));
        return { count: wallets.length, wallets };
      },
      schemaOf(operations.checkWallets),
    );
};
