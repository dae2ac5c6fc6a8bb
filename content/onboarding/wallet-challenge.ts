import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { isoTime } from "#content/contract/base/time.ts";
import type { WalletChallenge } from "#content/contract/onboarding.ts";
import { readWallet, signedByWallet, type Wallet } from "#content/giving/wallet.ts";

/** How long a challenge can be signed and submitted. */
export const challengeLifeMs = 900_000;

/** A wallet gets one challenge per minute, which can be recomputed from the instant, so nothing is stored. */
const grainMs = 60_000;

/** What makes a challenge ours. */
export type Issuer = {
  /** Host of the directory, shown to the signer. */
  host: string;
  /** Keyed code of a text, which no one else can make. */
  seal: (text: string) => string;
};

/** The text that a wallet's owner signs to prove control of it; the same for a whole minute. */
export function challengeFor(address: string, now: Date, issuer: Issuer) {
  const issuedAtMs = Math.floor(now.getTime() / grainMs) * grainMs;
  return {
    text: challengeText(address, issuedAtMs, issuer),
    issuedAtMs,
    expiresAtMs: issuedAtMs + challengeLifeMs,
  };
}

/** The answer with a challenge for the owner of a wallet. Nothing is stored. */
export function walletChallenge(
  { issuer, now }: { issuer: Issuer; now: Date },
  address: string,
): Result<WalletChallenge, string> {
  const wallet = readWallet(address);
  if (!wallet.ok) return wallet;
  if (!wallet.value.onCurve) {
    const message =
      "No key belongs to this address (it may be a multisig vault), so it cannot sign. Send it without a signature.";
    return fail(message);
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

export type WalletProofFailure = {
  kind: "wallet_challenge_unknown" | "wallet_challenge_expired" | "wallet_signature_invalid";
};

export type WalletProof = { challenge: string; signature: string };

/**
 * The challenge that the wallet signed. `challenge` is the signed text according to the client; if null, all challenges of
 * the last 15 minutes are tried.
 */
export function checkWalletProof(
  wallet: Wallet,
  { challenge, signature }: { challenge: string | null; signature: string },
  { now, issuer }: { now: Date; issuer: Issuer },
): Result<WalletProof, WalletProofFailure> {
  const current = currentChallenges(wallet.address, now, issuer);
  const sentText = challenge?.replaceAll("\r\n", "\n").trim() ?? null;
  if (sentText !== null && !current.includes(sentText)) {
    const issuedAtMs = Date.parse(/^Issued: (\S{20})$/m.exec(sentText)?.[1] ?? "");
    const ours =
      !Number.isNaN(issuedAtMs) && challengeText(wallet.address, issuedAtMs, issuer) === sentText;
    return fail({ kind: ours ? "wallet_challenge_expired" : "wallet_challenge_unknown" });
  }
  const signedText = (sentText === null ? current : [sentText]).find((text) =>
    signedByWallet(wallet, text, signature),
  );
  return signedText === undefined
    ? fail({ kind: "wallet_signature_invalid" })
    : ok({ challenge: signedText, signature });
}

function currentChallenges(address: string, now: Date, issuer: Issuer): string[] {
  const newest = Math.floor(now.getTime() / grainMs) * grainMs;
  const texts: string[] = [];
  for (let issuedAtMs = newest; issuedAtMs + challengeLifeMs > now.getTime(); issuedAtMs -= grainMs)
    texts.push(challengeText(address, issuedAtMs, issuer));
  return texts;
}

function challengeText(address: string, issuedAtMs: number, { host, seal }: Issuer): string {
  const lines = [
    `${host} asks the owner of this Solana wallet to prove control of it.`,
    "Signing moves no money and costs nothing.",
    `Wallet: ${address}`,
    `Issued: ${isoTime(issuedAtMs)}`,
    `Valid until: ${isoTime(issuedAtMs + challengeLifeMs)}`,
  ].join("\n");
  return `${lines}\nCode: ${seal(lines)}`;
}
