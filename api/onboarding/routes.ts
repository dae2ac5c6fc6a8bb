import { secretDigest } from "#content/runtime/digest.ts";
import details from "#content/editorial/problem-details.json";
import { fillDetail } from "#content/contract/base/fill.ts";
import type { Context } from "#api/context.ts";
import {
  chosenProfile,
  foundFor,
  idempotencyKeyOf,
  openForm,
  secretsIn,
  withdrawnAnswer,
  wordsIn,
} from "#api/forms/form-pages.ts";
import { bearerOf, networkHash, crossSiteWrite } from "#api/http/client.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { isSentByForm, valuesIn } from "#api/http/body.ts";
import {
  type FailureTable,
  problem,
  rateLimited,
  RefusalError,
  refusalOf,
  refuse,
  unusableBody,
} from "#api/http/problem.ts";
import { textIn } from "#api/http/query.ts";
import { helpFor, route, serve } from "#api/http/route.ts";
import { addresses } from "#content/contract/addresses.ts";
import { type FormPageOf, type Statement, unknownStatus } from "#content/contract/form-pages.ts";
import { HostProofBody } from "#content/contract/onboarding.ts";
import { onboardingOperations as operations } from "#content/contract/operations/onboarding.ts";
import { fitted, idempotencyKeyReused, invalidIdempotencyKey } from "#content/contract/problem.ts";
import { onboardingKeys } from "#content/onboarding/keys.ts";
import { onboard, type OnboardFailure } from "#content/onboarding/onboard.ts";
import {
  onboardingStatus,
  withdrawn,
  withdrawOnboarding,
} from "#content/onboarding/onboarding-status.ts";
import { type HostProofWorld, proveHost } from "#content/onboarding/prove-host.ts";
import { onboardingStore } from "#content/onboarding/store.ts";
import { walletChallenge } from "#content/onboarding/wallet-challenge.ts";
import { hostProofAnswers, openHostProof, openMail } from "./host-proof.ts";

/** POST /api/onboard, the challenge that proves a wallet, the status of a submission, and their pages. Never cached. */
export const onboardRoutes = (context: Context) => {
  const { store, clock, config, log, limits } = context;
  const { baseUrl } = config;
  const keys = onboardingKeys(context);
  const verb = { store, clock, baseUrl, config, ...keys };
  const complain = (error: unknown) => log.warn({ err: error }, "a mail could not be sent");
  const proving = openHostProof(context, openMail(config.mail, complain));
  const answers = answersTo(baseUrl);
  const { pages, answer } = openForm(context, {
    requests: onboardingStore,
    page: addresses.onboard,
    statusPage: addresses.onboardStatus,
    statusForm: addresses.onboardStatusForm,
    step: (request) => stepAt(context, request),
    fill: fillStep,
    unknown: unknownStatusPage,
    status: async (request, { secret, code = "", do: button = "" }) => {
      // Looking at the status is a read, but a button contacts others or writes.
      if (button !== "") {
        const refusal = crossSiteWrite("onboard", request);
        if (refusal !== null) return refusal;
        const allowance = await limits.request("onboard", request);
        if (allowance?.allowed === false) throw new RefusalError(rateLimited(allowance));
      }
      const { token, code: mailed } = secretsIn(secret);
      const outcome = await pressButton(proving, button, { token, code });
      const status = await onboardingStatus(verb, secretDigest(token));
      const mails = config.mail !== null;
      return {
        ...unknownStatusPage,
        status,
        secret: token,
        code: code || mailed,
        notice: outcome,
        mails,
      };
    },
  });
  return serve(
    route(operations.claimOrRegisterNonprofit, async ({ body, request }) => {
      const values = isSentByForm(request) ? valuesIn(body) : {};
      const outcome = await onboard(verb, {
        body,
        idempotencyKey: idempotencyKeyOf(request, values),
        network: networkHash(request, context),
        countStored: (bytes) => limits.stored("organisations", request, bytes),
      });
      return answer(outcome, answers, { request, values, slug: values["claim_slug"] ?? "" });
    }),
    route(operations.getWalletChallenge, ({ query }) => {
      const outcome = walletChallenge({ issuer: keys.issuer, now: clock() }, query.wallet);
      return outcome.ok
        ? encodedJson(outcome.value, "no-store")
        : problem(walletNotUsable(outcome.failure));
    }),
    route(operations.getOnboardingStatus, async ({ request }) => {
      const status = await onboardingStatus(verb, digestIn(request));
      return status === null ? problem(says.submission_not_found) : encodedJson(status, "no-store");
    }),
    route(operations.proveHostControl, async ({ body, request }) => {
      const read = fitted(HostProofBody, body ?? {});
      if (!read.ok) return problem({ ...unusableBody(read.failure), code: "invalid_host_proof" });
      const submission = await onboardingStore.byToken(store, digestIn(request));
      if (submission === null) return problem(says.submission_not_found);
      const outcome = await proveHost(proving, submission.id, read.value);
      return outcome.ok
        ? encodedJson(outcome.value, "no-store")
        : refuse(hostProofAnswers, outcome.failure);
    }),
    route(operations.withdrawOnboarding, async ({ request }) => {
      const status = await withdrawOnboarding(verb, digestIn(request));
      if (status === null) return problem(says.submission_not_found);
      return status.reason === withdrawn
        ? encodedJson(status, "no-store")
        : refuse(hostProofAnswers, { kind: "submission_decided" });
    }),
  ).use(pages);
};

/** The step of the form that an address asks for. */
async function stepAt(context: Context, request: Request): Promise<FormPageOf<"/onboard">> {
  const q = wordsIn(request);
  const profile = await chosenProfile(context, request, "claim");
  if (profile !== null) return fillStep(profile, null);
  if (textIn(request, "register") === null) {
    return { page: "/onboard", ...(await foundFor(context, q)) };
  }
  const values: Record<string, string> = q === null ? {} : { name: q };
  return fillStep(null, { values, wrongs: [], refusal: null });
}

type FillStep = Extract<FormPageOf<"/onboard">, { step: "fill" }>;

const fillStep = (profile: FillStep["profile"], sent: FillStep["sent"]): FillStep => ({
  page: "/onboard",
  step: "fill",
  profile,
  sent,
  key: crypto.randomUUID(),
});

const unknownStatusPage = {
  page: "/onboard/status",
  code: "",
  mails: false,
  ...unknownStatus,
} as const;

/** Carries out the button of the status page that was pressed. Returns the result; null for no button. */
async function pressButton(
  world: HostProofWorld,
  button: string,
  { token, code }: { token: string; code: string },
): Promise<Statement | null> {
  if (button === "withdraw") {
    const status = await withdrawOnboarding(world, secretDigest(token));
    return status?.reason === withdrawn ? { kind: "withdrawn", detail: null } : null;
  }
  const bodies = { look: {}, mail: { email: true }, confirm: { code } };
  if (!Object.hasOwn(bodies, button)) return null;
  const submission = await onboardingStore.byToken(world.store, secretDigest(token));
  if (submission === null) return null;
  const outcome = await proveHost(world, submission.id, bodies[button as keyof typeof bodies]);
  if (!outcome.ok) {
    const { kind } = outcome.failure;
    return { kind, detail: refusalOf(hostProofAnswers, outcome.failure).detail };
  }
  const { state, message: detail } = outcome.value;
  return { kind: button === "mail" && state === "not_proven" ? "mail_sent" : state, detail };
}

/** The digest of the secret in the header. It is not in the address, because proxies log addresses. */
const digestIn = (request: Request): string => secretDigest(bearerOf(request) ?? "");

const says = details.onboarding;

const answersTo = (baseUrl: string) => {
  const extensions = helpFor(operations.claimOrRegisterNonprofit, baseUrl);
  const base_url = baseUrl;
  return {
    invalid_onboarding: ({ errors }) => ({ ...unusableBody(errors), extensions }),
    nonprofit_not_found: { ...fillDetail(says.nonprofit_not_found, { base_url }), extensions },
    nonprofit_withdrawn: (failure) => withdrawnAnswer(says, failure),
    invalid_idempotency_key: invalidIdempotencyKey,
    idempotency_key_reused: idempotencyKeyReused,
    wallet_challenge_unknown: fillDetail(says.wallet_challenge_unknown, { base_url }),
    wallet_challenge_expired: fillDetail(says.wallet_challenge_expired, { base_url }),
    wallet_challenge_used: fillDetail(says.wallet_challenge_used, { base_url }),
    wallet_signature_invalid: fillDetail(says.wallet_signature_invalid, { base_url }),
  } as const satisfies FailureTable<OnboardFailure>;
};

const walletNotUsable = (message: string) => ({
  status: 400,
  code: "wallet_not_usable",
  detail: `wallet: ${message}`,
  extensions: { parameter: "wallet" },
});
