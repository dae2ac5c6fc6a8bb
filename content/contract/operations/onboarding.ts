import { addresses } from "#content/contract/addresses.ts";
import {
  ErasureAnswer,
  ErasureBody,
  HostProof,
  HostProofBody,
  OnboardingAnswer,
  OnboardingBody,
  OnboardingStatus,
  RevokeAnswer,
  RevokeBody,
  WalletChallenge,
  ChallengeParameters,
  claimExample,
  registrationExample,
} from "#content/contract/onboarding.ts";
import { operations } from "./operation.ts";

/** How an organisation gets hold of its profile. */
export const onboardingOperations = operations("Onboarding", {
  claimOrRegisterNonprofit: {
    method: "post",
    path: addresses.claimOrRegister.path,
    summary: "Claim a listing, or register a nonprofit",
    description:
      "With `claim_slug` the listing is claimed (also needed: `contact_email`), or changed when it is claimed already; without it, a new profile is registered (`name`, `country`, `contact_email`). A person reviews it, and nothing of it is public before. A wallet takes effect 72 hours after approval (unless the directory is set otherwise), or at once where it replaces none and control of the organisation's host and of the wallet is proven. A claim fills what is empty; `corrects` names live values that are wrong. The same request again is answered with the one that waits, and with its `status_url` only under the same Idempotency-Key. Forms of browsers are taken, too.",
    headers: ["IdempotencyKey"],
    body: {
      shape: OnboardingBody,
      examples: { claim: { ...claimExample }, registration: { ...registrationExample } },
    },
    ok: { description: "It waits for review", shape: OnboardingAnswer },
    refusals: [403, 404, 409, 410],
  },
  getWalletChallenge: {
    path: addresses.walletChallenge.path,
    summary: "Get a text to sign, to prove control of a wallet",
    description:
      "Sign it with the wallet's Ed25519 key within 15 minutes and send `wallet_challenge` and `wallet_signature` with POST /api/onboard. It counts once. After approval both are public in the profile as `wallet_proof`.",
    query: ChallengeParameters,
    fresh: true,
    ok: { description: "The text to sign", shape: WalletChallenge },
  },
  getOnboardingStatus: {
    path: addresses.onboardStatusJson.path,
    summary: "Get the status of a request",
    description:
      "Send what follows # in the `status_url` of the answer to POST /api/onboard as `Authorization: Bearer …`. It is not part of the address, so no log holds it. Anyone with the link can read this: keep it private.",
    fresh: true,
    secret: true,
    ok: { description: "Status of the request", shape: OnboardingStatus },
    refusals: [404],
  },
  proveHostControl: {
    method: "post",
    path: addresses.proveHost.path,
    summary: "Prove control of the organisation's host",
    description:
      "Publish `token` of `host_proof` as a line of `file_url` or as a TXT record at `dns_name`, then send this, with the secret of `status_url` as `Authorization: Bearer …`. The directory looks at both places at once and answers within 6 s; 503 means that one of them could not be asked, so that it is not proven yet. With `email` it sends a link to `contact_email` instead, where that address is at the host itself.",
    fresh: true,
    secret: true,
    body: { shape: HostProofBody, optional: true },
    ok: { description: "What is proven", shape: HostProof },
    refusals: [404, 409, 503],
  },
  withdrawOnboarding: {
    method: "post",
    path: addresses.withdrawOnboarding.path,
    summary: "Withdraw a request that waits for review",
    description:
      "With the secret of `status_url` as `Authorization: Bearer …`. It is rejected with that reason, and its contact is erased after 90 days.",
    fresh: true,
    secret: true,
    ok: { description: "Withdrawn", shape: OnboardingStatus },
    refusals: [404, 409],
  },
});

/** What only operators do about it, beside reviews. */
export const verificationOperations = operations("Operator", {
  checkHostControl: {
    method: "post",
    path: addresses.checkHost.path,
    summary: "Look whether the sender of a request controls the organisation's host",
    description:
      "Of a claim, change or registration that waits: looks for its token in the file and in DNS, as `POST /api/onboard/host-proof` does.",
    ok: { description: "What is proven", shape: HostProof },
    refusals: [409, 503],
  },
  eraseContacts: {
    method: "post",
    path: addresses.eraseContacts.path,
    summary: "Erase the contact of who asked for something, or sent a correction",
    description:
      "Of one request or correction, or of all from an address: name and address of the sender. Those of rejected and withdrawn requests and of decided corrections are erased after 90 days anyway. The audit log says that it was done, without the data.",
    body: { shape: ErasureBody },
    ok: { description: "Erased", shape: ErasureAnswer },
    refusals: [],
  },
  revokeVerification: {
    method: "post",
    path: addresses.revokeVerification.path,
    summary: "Take back a verification",
    description:
      "The profile becomes an unclaimed listing again. What the organisation had set goes with it: wallet and contact always, mission, website, city and country unless `take_back_values` is false. A held wallet is stopped.",
    body: { shape: RevokeBody },
    ok: { description: "Taken back", shape: RevokeAnswer },
    refusals: [409],
  },
});
