import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import { refuse } from "#api/http/problem.ts";
import { route, serve } from "#api/http/route.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { isSolanaAddress } from "#content/contract/transfer.ts";
import {
  donationOperations as operations,
  donationHistoryProblems,
  receiptProblems,
  walletProblems,
} from "#content/contract/operations/donation.ts";
import { openSigner, signCompact } from "#content/feed/signing-keys.ts";
import { donationHistory, nothingGiven } from "#content/giving/answers.ts";
import { correctionOf, receiptOf, signedAnswer, signReceipt } from "#content/giving/receipt.ts";
import { donateTarget, donationById, donationsTo } from "#content/giving/store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { registrationsOf } from "#content/nonprofit/wire.ts";
import { ownersOf } from "#content/onboarding/wallet-owner-store.ts";

type SigningContext = Pick<Context, "store" | "clock" | "chain" | "secrets" | "config">;

/** Signed statements of who owns a wallet, to check before a payment: GET /api/wallets/{address}, POST /api/wallets. */
export const walletRoutes = ({ store, clock, chain, secrets, config }: SigningContext) => {
  const opening = openSigner(secrets.signingKey);
  const answersTo = async (addresses: readonly string[]) => {
    const signer = await opening;
    const now = clock();
    const by = { type: "almoner-wallet-statement/1", issuer: config.baseUrl } as const;
    const statement = { ...by, day: isoDay(now.getTime()), cluster: chain.cluster };
    const owners = await ownersOf(store, addresses, now);
    const sign = (owner: object) => signCompact(JSON.stringify({ ...statement, ...owner }), signer);
    return Promise.all(owners.map(async (owner) => ({ ...owner, jws: await sign(owner) })));
  };
  return serve(
    route(operations.getWallet, async ({ params: { address }, set }) => {
      if (!isSolanaAddress(address)) return refuse(walletProblems, { kind: "wallet_malformed" });
      set.headers["cache-control"] = "no-store";
      return (await answersTo([address]))[0];
    }),
    route(operations.checkWallets, async ({ body: { addresses } }) => ({
      count: addresses.length,
      wallets: await answersTo(addresses),
    })),
  );
};

/**
 * Past donations: GET /api/donations/{slug}, and /api/donations/{slug}/{id} with evidence and a signature. Withdrawn
 * nonprofits have them, too.
 */
export const receiptRoutes = ({ store, clock, chain, secrets, config }: SigningContext) => {
  const opening = openSigner(secrets.signingKey);
  const { baseUrl } = config;
  return serve(
    route(operations.getDonationHistory, async ({ params: { slug } }) => {
      const target = await donateTarget(store, slug, clock());
      if (target === null) return refuse(donationHistoryProblems, { kind: "nonprofit_not_found" });
      const [donations = nothingGiven] = await donationsTo(store, [target.id]);
      const place = { cluster: chain.cluster, baseUrl };
      return encodedJson(donationHistory(target, donations, place), freshCacheControl);
    }),
    route(operations.getDonationReceipt, async ({ params: { slug, donation_id } }) => {
      const record = await recordBySlug(store, slug);
      if (record === null) return refuse(receiptProblems, { kind: "nonprofit_not_found" });
      const donation = await donationById(store, record.id, donation_id);
      if (donation === null) return refuse(receiptProblems, { kind: "donation_not_found" });
      if (donation.slot === 0) return refuse(receiptProblems, { kind: "donation_invented" });
      const nonprofit = { ...record, ...registrationsOf(record) };
      const receipt = receiptOf(donation, nonprofit, baseUrl);
      const signer = await opening;
      const signature = await signReceipt(receipt, signer);
      const correction = correctionOf(donation, baseUrl);
      const corrected =
        correction === null
          ? null
          : { correction, signature: await signReceipt(correction, signer) };
      return encodedJson(signedAnswer(receipt, signature, corrected), freshCacheControl);
    }),
  );
};
