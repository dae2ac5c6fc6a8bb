import {
  type OnboardingAnswer,
  OnboardingStatus,
  WalletChallenge,
} from "#content/contract/onboarding.ts";
import { ReviewItem } from "#content/contract/review.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { noteHostProof } from "#content/onboarding/store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { doAll } from "#content/store/query.ts";
import { aService, type TestService, testNow } from "./service.ts";
import { aWallet } from "./wallets.ts";

export const operatorTokens = {
  ada: "a-token-of-operator-ada-0123456789",
  bob: "a-token-of-operator-bob-0123456789",
};

export type OnboardingService = TestService & {
  /** Milliseconds of the clock. */
  now(): number;
  pass(ms: number): void;
  /** POST /api/onboard from a network of its own. */
  send(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The same, and it must be accepted. */
  submit(body: object): Promise<OnboardingAnswer>;
  decide(
    id: string,
    decision: "approve" | "reject",
    body?: object,
    operator?: keyof typeof operatorTokens,
  ): Promise<Response>;
  /** Approves a request; answers what the operator reads. */
  approve(
    submissionId: string,
    body?: object,
  ): Promise<{ status: number; body: Awaited<ReturnType<Response["json"]>> }>;
  /** A request as operators see it. */
  review(submissionId: string): Promise<ReviewItem>;
  /** What the sender of a request reads of it. */
  status(answer: OnboardingAnswer): Promise<OnboardingStatus>;
  /** A new wallet, with its signature under the challenge for it. */
  provenWallet(): Promise<{ address: string; challenge: string; signature: string }>;
  /** Notes that the sender of a request proved control of a host just now. */
  prove(submissionId: string, host: string): Promise<void>;
  live(slug: string): Promise<NonprofitRecord>;
  /** An operator's GET. */
  admin(path: string): Promise<Response>;
};

/** The secret in the link to a request's status page. */
export const secretOf = ({ status_url }: OnboardingAnswer): string =>
  status_url?.split("#")[1] ?? "";

/** A service whose clock the test turns, with two operators. */
export async function anOnboardingService(
  records: NonprofitRecord[] = [],
  env: Record<string, string> = {},
): Promise<OnboardingService> {
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
  let clients = 0;
  const client = () => ({ "x-forwarded-for": `10.${(clients >> 8) & 255}.${clients++ & 255}.3` });
  const bearer = (operator: keyof typeof operatorTokens) => ({
    authorization: `Bearer ${operatorTokens[operator]}`,
    ...client(),
  });
  const send = (body: unknown, headers = {}) =>
    service.post("/api/onboard", body, { ...client(), ...headers });
  const admin = (path: string) => service.get(path, bearer("ada"));
  const decide: OnboardingService["decide"] = (id, decision, body = {}, operator = "ada") =>
    service.post(`/api/admin/reviews/${id}/${decision}`, body, bearer(operator));
  return {
    ...service,
    now: () => nowMs,
    pass: (ms) => {
      nowMs += ms;
    },
    send,
    submit: async (body) => {
      const response = await send(body);
      if (response.status !== 200) throw new Error(await response.text());
      return (await response.json()) as OnboardingAnswer;
    },
    decide,
    approve: async (id, body) => {
      const response = await decide(`onboarding-${id}`, "approve", body);
      return { status: response.status, body: await response.json() };
    },
    review: async (id) =>
      ReviewItem.parse(await (await admin(`/api/admin/reviews/onboarding-${id}`)).json()),
    status: async (answer) => {
      const authorization = `Bearer ${secretOf(answer)}`;
      return OnboardingStatus.parse(await service.json("/api/onboard/status", { authorization }));
    },
    provenWallet: async () => {
      const { address, sign } = aWallet();
      const answer = await service.json(`/api/onboard/challenge?wallet=${address}`);
      const { challenge } = WalletChallenge.parse(answer);
      return { address, challenge, signature: sign(challenge) };
    },
    prove: (id, host) =>
      service.store.write((tx) => {
        const proof = { proven_host: host, proven_by: "dns", proven_at: nowMs } as const;
        return doAll(tx, [noteHostProof(id, proof)]);
      }),
    live: async (slug) => {
      const record = await recordBySlug(service.store, slug);
      if (record === null) throw new Error(`no ${slug}`);
      return record;
    },
    admin,
  };
}
