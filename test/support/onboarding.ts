import { forFile } from "./at-file-top.ts";
import {
  type OnboardingAnswer,
  OnboardingStatus,
  WalletChallenge,
} from "#content/contract/onboarding.ts";
import { ReviewItem } from "#content/contract/review.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { onboardingStore } from "#content/onboarding/store.ts";
import { doAll } from "#content/store/query.ts";
import { aClient, aService, testNow } from "./service.ts";
import { aWallet } from "./wallets.ts";

export const operatorTokens = {
  ada: "a-token-of-operator-ada-0123456789",
  bob: "a-token-of-operator-bob-0123456789",
};

type Operator = keyof typeof operatorTokens;
export type OnboardingService = Awaited<ReturnType<typeof anOnboardingService>>;
/** The secret in the link to a request's status page. */
export const secretOf = ({ status_url }: OnboardingAnswer): string =>
  status_url?.split("#")[1] ?? "";

/** A service whose clock the test turns, with two operators. */
export async function anOnboardingService(
  records: NonprofitRecord[] = [],
  env: Record<string, string> = {},
) {
  let nowMs = testNow.getTime();
  const service = await aService({
    env: {
      ALMONER_TRUSTED_HOPS: "1",
      ALMONER_ADMIN_TOKENS: Object.entries(operatorTokens)
        .map((pair) => pair.join(":"))
        .join(","),
      ...env,
    },
    context: {
      clock: () => new Date(nowMs),
      waitForPublication: () => Promise.resolve({ release: "r1" }),
    },
    records,
  });
  const bearer = (operator: Operator) => ({
    authorization: `Bearer ${operatorTokens[operator]}`,
    ...aClient(),
  });
  /** POST /api/onboard from a network of its own. */
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    service.post("/api/onboard", body, { ...aClient(), ...headers });
  /** An operator's GET. */
  const admin = (path: string) => service.get(path, bearer("ada"));
  type Decision = "approve" | "reject";
  const decide = (id: string, decision: Decision, body = {}, operator: Operator = "ada") =>
    service.post(`/api/admin/reviews/${id}/${decision}`, body, bearer(operator));
  return {
    ...service,
    /** Milliseconds of the clock. */
    now: () => nowMs,
    pass: (ms: number) => void (nowMs += ms),
    send,
    /** The same, and it must be accepted. */
    submit: async (body: object) => {
      const response = await send(body);
      if (response.status !== 200) throw new Error(await response.text());
      return (await response.json()) as OnboardingAnswer;
    },
    decide,
    /** Approves a request; answers what the operator reads. */
    approve: async (id: string, body?: object) => {
      const response = await decide(`onboarding-${id}`, "approve", body);
      return { status: response.status, body: await response.json() };
    },
    /** Takes the verification of a profile back. */
    revoke: (slug: string, body: object = { reason: "x" }) =>
      service.post(`/api/admin/nonprofits/${slug}/revoke`, body, bearer("ada")),
    /** A request as operators see it. */
    review: async (id: string) =>
      ReviewItem.parse(await (await admin(`/api/admin/reviews/onboarding-${id}`)).json()),
    /** What the sender of a request reads of it. */
    status: async (answer: OnboardingAnswer) => {
      const authorization = `Bearer ${secretOf(answer)}`;
      return OnboardingStatus.parse(await service.json("/api/onboard/status", { authorization }));
    },
    /** A new wallet, with its signature under the challenge for it. */
    provenWallet: async () => {
      const { address, sign } = aWallet();
      const answer = await service.json(`/api/onboard/challenge?wallet=${address}`);
      const { challenge } = WalletChallenge.parse(answer);
      return { address, challenge, signature: sign(challenge) };
    },
    /** Notes that the sender of a request proved control of a host just now. */
    prove: (id: string, host: string) =>
      service.store.write((tx) => {
        const proof = { proven_host: host, proven_by: "dns", proven_at: nowMs } as const;
        return doAll(tx, [onboardingStore.changeWaiting(id, proof)]);
      }),
    admin,
  };
}

export const theOnboardingService = forFile(anOnboardingService);
