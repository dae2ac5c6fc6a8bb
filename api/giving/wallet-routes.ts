import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { refuse } from "#api/http/problem.ts";
import { pathOf, schemaOf } from "#api/http/route.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { isSolanaAddress } from "#content/contract/wallet.ts";
import { donationOperations as operations } from "#content/contract/operations/donation.ts";
import { walletProblems } from "#content/contract/donation-problems.ts";
import { openSigner, signCompact } from "#content/feed/signing-keys.ts";
import { ownersOf } from "#content/onboarding/wallet-owner-store.ts";

type Needs = Pick<Context, "store" | "clock" | "chain" | "secrets" | "config">;

/** GET /api/wallets/{address} and POST /api/wallets: whose wallet it is, signed, to be asked before a payment. */
export const walletRoutes = ({ store, clock, chain, secrets, config }: Needs) => {
  const opening = openSigner(secrets.signingKey);
  const answersTo = async (addresses: readonly string[]) => {
    const [signer, now] = [await opening, clock()];
    const by = { type: "almoner-wallet-statement/1", issuer: config.baseUrl } as const;
    const statement = { ...by, day: isoDay(now.getTime()), cluster: chain.cluster };
    const owners = await ownersOf(store, addresses, now);
    const sign = (owner: object) => signCompact(JSON.stringify({ ...statement, ...owner }), signer);
    return Promise.all(owners.map(async (owner) => ({ ...owner, jws: await sign(owner) })));
  };
  return new Elysia()
    .get(pathOf(operations.getWallet), async ({ params: { address }, set }) => {
      if (!isSolanaAddress(address)) return refuse(walletProblems, { kind: "wallet_malformed" });
      set.headers["cache-control"] = "no-store";
      return (await answersTo([address]))[0];
    })
    .post(
      pathOf(operations.checkWallets),
      async ({ body: { addresses } }) => ({
        count: addresses.length,
        wallets: await answersTo(addresses),
      }),
      schemaOf(operations.checkWallets),
    );
};
