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
import { change, operations } from "./operation.ts";

/** How an organisation takes over its profile. */
export const onboardingOperations = operations("Onboarding", {
  claimOrRegisterNonprofit: {
    method: "post",
    path: addresses.claimOrRegister.path,
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
    query: ChallengeParameters,
    fresh: true,
    ok: { description: "The text to sign", shape: WalletChallenge },
  },
  getOnboardingStatus: {
    path: addresses.onboardStatusJson.path,
    fresh: true,
    secret: true,
    ok: { description: "Status of the request", shape: OnboardingStatus },
    refusals: [404],
  },
  proveHostControl: {
    method: "post",
    path: addresses.proveHost.path,
    fresh: true,
    secret: true,
    body: { shape: HostProofBody, optional: true },
    ok: { description: "What is proven", shape: HostProof },
    refusals: [403, 404, 409, 503],
  },
  withdrawOnboarding: {
    method: "post",
    path: addresses.withdrawOnboarding.path,
    fresh: true,
    secret: true,
    ok: { description: "Withdrawn", shape: OnboardingStatus },
    refusals: [403, 404, 409],
  },
});

/** Actions of operators about it, besides reviews. */
export const verificationOperations = operations("Operator", {
  checkHostControl: {
    method: "post",
    path: addresses.checkHost.path,
    ok: { description: "What is proven", shape: HostProof },
    refusals: [409, 503],
  },
  eraseContacts: change(addresses.eraseContacts, ErasureBody, ["Erased", ErasureAnswer], [404]),
  revokeVerification: change(
    addresses.revokeVerification,
    RevokeBody,
    ["Taken back", RevokeAnswer],
    [409],
  ),
});
