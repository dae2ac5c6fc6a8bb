import type {
  OnboardingAnswer,
  OnboardingStatus,
  RevokeAnswer,
  WalletChallenge,
} from "#content/contract/onboarding.ts";
import { origin, slug } from "./directory.ts";

const submission_id = "4f1c9a0b7d2e6f8a3b5c";
const token = "mK3v0uQ1yZ7w9xS5tR2pN8aB4cD6eF1gH3jL0kM7nPs";

export const onboardingAnswer: OnboardingAnswer = {
  success: true,
  type: "claim",
  submission_id,
  slug,
  status: "pending_review",
  message:
    "Your claim waits for review. Nothing is public before a reviewer approves it; status_url shows its status.",
  status_url: `${origin}/onboard/status#${token}`,
};

const wallet = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV";

export const walletChallenge: WalletChallenge = {
  wallet,
  challenge: [
    `${new URL(origin).host} asks the owner of this Solana wallet to prove control of it.`,
    "Signing moves no money and costs nothing.",
    `Wallet: ${wallet}`,
    "Issued: 2026-06-01T12:00:00Z",
    "Valid until: 2026-06-01T12:15:00Z",
    "Code: kQ0b5r9dWm3s1Yc7RkZgaA",
  ].join("\n"),
  issued_at: "2026-06-01T12:00:00Z",
  expires_at: "2026-06-01T12:15:00Z",
  message:
    "Sign exactly this text with the wallet's key (Ed25519) and send usdc_wallet, wallet_challenge and wallet_signature (base58) to POST /api/onboard. It counts once.",
};

export const onboardingStatus: OnboardingStatus = {
  submission_id,
  type: "change",
  status: "approved",
  slug,
  name: "Hope Kitchen",
  reason: null,
  wallet: {
    state: "held",
    address: "7EcD…FLtV",
    proven: true,
    takes_effect_at: "2026-06-05T09:30:00Z",
    reason: null,
  },
  other_wallet_at: null,
  submitted_at: "2026-06-01T12:00:00Z",
  reviewed_at: "2026-06-02T09:30:00Z",
  profile_url: `${origin}/nonprofits/${slug}`,
  message:
    "It is approved. The new wallet takes effect when its hold ends; until then gifts go to the old one.",
};

export const revoked: RevokeAnswer = {
  slug,
  taken_back: ["usdc_wallet", "contact_email"],
  stopped_hold: false,
  live: true,
};
