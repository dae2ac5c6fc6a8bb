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
import { bearerOf, networkHash } from "#api/http/client.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { isSentByForm, valuesIn } from "#api/http/body.ts";
import { type FailureTable, problem, RefusalError, unusableBody } from "#api/http/problem.ts";
import { textIn } from "#api/http/query.ts";
import { helpFor, route, serve } from "#api/http/route.ts";
import { addresses } from "#content/contract/addresses.ts";
import { CorrectionBody } from "#content/contract/correction.ts";
import { type FormPageOf, unknownStatus } from "#content/contract/form-pages.ts";
import { correctionOperations as operations } from "#content/contract/operations/enrichment.ts";
import {
  fitted,
  idempotencyKeyReused,
  invalidIdempotencyKey,
  nonprofitNotFound,
} from "#content/contract/problem.ts";
import {
  type CorrectFailure,
  correct,
  correctionStatus,
  waitingInAllMax,
} from "#content/correction/correct.ts";
import { correctionStore } from "#content/correction/store.ts";
import { waitingInPlaceMax, waitingOfNetworkMax } from "#content/requests/quota.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { withScheme } from "#content/nonprofit/website.ts";
import { onboardingKeys } from "#content/onboarding/keys.ts";

/** POST /api/corrections/{slug}, the status of a correction, and the pages of both. Never cached. */
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
  const { pages, answer } = openForm(context, {
    requests: correctionStore,
    page: addresses.corrections,
    statusPage: addresses.correctionStatus,
    statusForm: addresses.correctionStatusForm,
    step: (request) => stepAt(context, request),
    fill: (profile, sent) => {
      const read = readField(sent.values["field"] ?? "");
      if (profile === null) return null;
      return read.ok ? fillStep(profile, read.value, sent) : fieldStep(profile);
    },
    unknown: unknownStatusPage,
    status: async (_, { secret }) => {
      const { token } = secretsIn(secret);
      const status = await correctionStatus(verb, token);
      if (status === null) return unknownStatusPage;
      const name = (await recordBySlug(store, status.slug))?.name ?? status.slug;
      return { ...unknownStatusPage, status, name, secret: token };
    },
  });
  return serve(
    route(operations.correctNonprofit, async ({ params: { slug }, body, request }) => {
      const values = isSentByForm(request) ? valuesIn(body) : {};
      const { source_url = "" } = values;
      const outcome = await correct(verb, {
        slug,
        // People often type the address of a page without its scheme.
        body: source_url === "" ? body : { ...values, source_url: withScheme(source_url) },
        idempotencyKey: idempotencyKeyOf(request, values),
        network: networkHash(request, context),
        countStored: (bytes) => limits.stored("readers", request, bytes),
      });
      return answer(outcome, answersTo(baseUrl, slug), { request, values, slug });
    }),
    route(operations.getCorrectionStatus, async ({ request }) => {
      // The secret comes in a header, not in the address, because proxies log addresses.
      const status = await correctionStatus(verb, bearerOf(request) ?? "");
      return status === null ? problem(says.correction_not_found) : encodedJson(status, "no-store");
    }),
  ).use(pages);
};

type CorrectionPage = FormPageOf<"/corrections">;

/** The step of the form that an address asks for. Throws RefusalError for an unknown field. */
async function stepAt(context: Context, request: Request): Promise<CorrectionPage> {
  const profile = await chosenProfile(context, request, "profile");
  if (profile === null) {
    return { page: "/corrections", ...(await foundFor(context, wordsIn(request))) };
  }
  const field = textIn(request, "field");
  if (field === null) return fieldStep(profile);
  const read = readField(field);
  if (read.ok) return fillStep(profile, read.value, null);
  const detail = read.failure[0]?.message ?? "No field has this name.";
  throw new RefusalError({ status: 400, code: "invalid_parameter", detail });
}

const readField = (name: string) => fitted(CorrectionBody.shape.field, name);

type FillStep = Extract<CorrectionPage, { step: "fill" }>;

const fieldStep = (profile: FillStep["profile"]): CorrectionPage => ({
  page: "/corrections",
  step: "field",
  profile,
});

const fillStep = (
  profile: FillStep["profile"],
  field: FillStep["field"],
  form: FillStep["sent"],
): FillStep => ({
  page: "/corrections",
  step: "fill",
  profile,
  field,
  sent: form,
  key: crypto.randomUUID(),
});

const unknownStatusPage = { page: "/corrections/status", name: "", ...unknownStatus } as const;

const says = details.correction;

const answersTo = (baseUrl: string, slug: string) => {
  const help = helpFor(operations.correctNonprofit, baseUrl, slug);
  const extensions = helpFor(operations.correctNonprofit, baseUrl);
  return {
    invalid_correction: ({ errors }) => ({ ...unusableBody(errors), extensions: help }),
    nonprofit_not_found: { ...nonprofitNotFound, extensions },
    nonprofit_withdrawn: (failure) => withdrawnAnswer(says, failure),
    nothing_to_correct: ({ field }) =>
      fillDetail(says.nothing_to_correct, { field, base_url: baseUrl, slug }),
    correction_queue_full: fillDetail(says.correction_queue_full, {
      ofProfile: waitingInPlaceMax,
      ofNetwork: waitingOfNetworkMax,
      inAll: waitingInAllMax,
    }),
    invalid_idempotency_key: invalidIdempotencyKey,
    idempotency_key_reused: idempotencyKeyReused,
  } as const satisfies FailureTable<CorrectFailure>;
};
