import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { networkHash } from "#api/http/client.ts";
import { bearerOf } from "#api/http/client.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { answerForm, isSentByForm, valuesIn } from "#api/http/form.ts";
import { type FailureTable, problem, refusalOf, refuse, unusableBody } from "#api/http/problem.ts";
import { helpFor, pathOf } from "#api/http/route.ts";
import { onboardingKeys } from "#content/onboarding/keys.ts";
import { correctionOperations as operations } from "#content/contract/operations/correction.ts";
import {
  idempotencyKeyReused,
  invalidIdempotencyKey,
  nonprofitNotFound,
} from "#content/contract/problem.ts";
import { withScheme } from "#content/nonprofit/website.ts";
import { waitingMax, waitingOfNetworkMax } from "#content/enrichment/consensus.ts";
import {
  type CorrectFailure,
  correct,
  correctionStatus,
  waitingInAllMax,
} from "#content/correction/correct.ts";
import { answersToForm, correctionPages } from "./pages.ts";

/** POST /api/corrections/{slug}, and what a link to a status page asks. Never cached. */
export const correctionRoutes = (context: Context) => {
  const { store, clock, config, limits } = context;
  const { baseUrl } = config;
  const { statusToken } = onboardingKeys(context);
  const verb = {
    store,
    clock,
    baseUrl,
    statusToken: (id: string) => statusToken(`correction ${id}`),
  };
  return new Elysia()
    .use(correctionPages(context, verb))
    .post(pathOf(operations.correctNonprofit), async ({ params: { slug }, body, request }) => {
      const isForm = isSentByForm(request);
      const values = isForm ? valuesIn(body) : {};
      const { idempotency_key = "", source_url = "" } = values;
      const key = request.headers.get("idempotency-key") ?? idempotency_key;
      const answers = answersTo(baseUrl, slug);
      const outcome = await correct(verb, {
        slug,
        // People write the address of a page without its scheme.
        body: source_url === "" ? body : { ...values, source_url: withScheme(source_url) },
        idempotencyKey: key === "" ? null : key,
        network: networkHash(request, context),
        countStored: (bytes) => limits.stored("readers", request, bytes),
      });
      if (!isForm) return outcome.ok ? outcome.value : refuse(answers, outcome.failure);
      const answer = outcome.ok
        ? { taken: outcome.value }
        : { refusal: refusalOf(answers, outcome.failure) };
      return answerForm(answersToForm(context, slug, values), { request, values }, answer);
    })
    .get(pathOf(operations.getCorrectionStatus), async ({ request }) => {
      // Of the secret in a header, not in the address: proxies write addresses into their logs.
      const status = await correctionStatus(verb, bearerOf(request) ?? "");
      return status === null ? problem(correctionNotFound) : encodedJson(status, "no-store");
    });
};

const answersTo = (baseUrl: string, slug: string) => {
  const filled = helpFor(operations.correctNonprofit, baseUrl, slug);
  const extra = helpFor(operations.correctNonprofit, baseUrl);
  return {
    invalid_correction: ({ errors }) => ({ ...unusableBody(errors), extra: filled }),
    nonprofit_not_found: { ...nonprofitNotFound, extra },
    nonprofit_withdrawn: ({ merged_into }) => ({
      status: 410,
      detail:
        merged_into === null
          ? "This nonprofit is withdrawn: its profile takes no corrections."
          : `This profile was merged into ${merged_into}: send the correction there.`,
    }),
    nothing_to_correct: ({ field }) => ({
      status: 409,
      detail: `Nothing was stored: the profile says exactly this of its ${field} already, or nothing. What is empty is filled with POST ${baseUrl}/api/enrich/${slug}.`,
    }),
    correction_queue_full: {
      status: 409,
      detail: `Nothing was stored: ${waitingMax} corrections of this profile wait already, or ${waitingOfNetworkMax} from your network, or ${waitingInAllMax} from your network for all profiles. An operator makes room by deciding them.`,
    },
    invalid_idempotency_key: invalidIdempotencyKey,
    idempotency_key_reused: idempotencyKeyReused,
  } as const satisfies FailureTable<CorrectFailure>;
};

const correctionNotFound = {
  status: 404,
  code: "correction_not_found",
  detail:
    "No correction has this secret. Send all that follows # in status_url, as Authorization: Bearer <secret>.",
};
