import { isoTime } from "#content/contract/time.ts";
import { readWallet } from "#content/donation/wallet.ts";
import { challengeFor, type Issuer } from "#content/onboarding/wallet-challenge.ts";
import type { WalletChallenge } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";

export type ChallengeFailure = { kind: "wallet_not_usable"; message: string };

/** The text by whose signature the owner of a wallet proves control of it. Nothing is stored. */
export function walletChallenge(
  { issuer, now }: { issuer: Issuer; now: Date },
  address: string | null,
): Result<WalletChallenge, ChallengeFailure> {
  const wallet = readWallet(address ?? "");
  if (!wallet.ok) return fail({ kind: "wallet_not_usable", message: wallet.failure.message });
  if (!wallet.value.onCurve) {
    const message =
      "No key belongs to this address (it may be a multisig vault), so it cannot sign. Send it without a signature.";
    return fail({ kind: "wallet_not_usable", message });
  }
  const { text, issuedAtMs, expiresAtMs } = challengeFor(wallet.value.address, now, issuer);
  return ok({
    wallet: wallet.value.address,
    challenge: text,
    issued_at: isoTime(issuedAtMs),
    expires_at: isoTime(expiresAtMs),
    message:
      "Sign exactly this text with the wallet's key (Ed25519) and send usdc_wallet, wallet_challenge and wallet_signature (base58) to POST /api/onboard. It counts once.",
  });
}
