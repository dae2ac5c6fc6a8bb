import { Elysia } from "elysia";
import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { type EncodedBody, encodedJson } from "#api/http/encoded-body.ts";
import { type FailureTable, problem, refuse } from "#api/http/problem.ts";
import { pathOf, schemaOf } from "#api/http/route.ts";
import * as operations from "#content/contract/operations/operator.ts";
import * as onboarding from "#content/contract/operations/onboarding.ts";
import * as picks from "#content/contract/operations/recommendation.ts";
import { daysLimit } from "#content/contract/operator.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import { testPost } from "#api/webhooks/post.ts";
import {
  readDeliveries,
  resendDelivery,
  testWebhooks,
  type WebhookFailure,
} from "#api/webhooks/deliveries.ts";
import { RevokeBody } from "#content/contract/onboarding.ts";
import {
  PickBody,
  type PickChange,
  PickEdit,
  PickRemoval,
} from "#content/contract/recommendation.ts";
import type { Result } from "#content/contract/result.ts";
import { ApproveBody, RejectBody, RevertBody } from "#content/contract/review.ts";
import { readAudit } from "#content/operation/audit-store.ts";
import { dailyNumbers, type HealthContext, healthContext, operatorHealth } from "./health.ts";
import { operatorOf } from "./operators.ts";
import { addToPicks, editPick, listPicks, type PickFailure, removePick } from "./picks.ts";
import { revertAgent } from "./revert.ts";
import type { ReviewFailure } from "./review-queue.ts";
import { decideReview, findReview, listReviews, reviewQueues } from "./review.ts";
import { type RevokeFailure, revokeVerification } from "./revoke-verification.ts";

/** What the operator's routes need of the service; a command without one hands in its own. */
export type OperatorContext = Pick<
  Context,
  "store" | "clock" | "config" | "secrets" | "waitForPublication" | "publication"
> & {
  readonly limits: Pick<Context["limits"], "adminFailures">;
  readonly activity: Pick<Context["activity"], "count">;
  readonly curated: Pick<Context["curated"], "lookAgain">;
  readonly chain: HealthContext["chain"];
};

/** The operator's JSON API. */
export const operatorRoutes = (context: OperatorContext) =>
  new Elysia()
    .use(reviewRoutes(context))
    .use(logRoutes(context))
    .use(healthRoutes(context))
    .use(webhookRoutes(context))
    .use(pickRoutes(context))
    .use(verificationRoutes(context));

/** Who is no operator is refused before the query is looked at. */
const forOperators = (context: OperatorContext) =>
  new Elysia().derive(({ request }) => ({ operator: operatorOf(context, request) }));

/** The operator's reviews for programs: queues, one of them, and approve and reject of one. Never cached. */
const reviewRoutes = (context: OperatorContext) =>
  forOperators(context)
    .get(pathOf(operations.countReviews), async () => {
      return encodedJson({ queues: await reviewQueues(context) }, "no-store");
    })
    .get(
      pathOf(operations.listReviews),
      async ({ query }) => {
        const { kind = null, limit, after = null } = query;
        const page = { kind, limit, after };
        const { reviews, next } = await listReviews(context, page);
        return encodedJson({ count: reviews.length, reviews, next }, "no-store");
      },
      schemaOf(operations.listReviews),
    )
    .get(pathOf(operations.getReview), async ({ params }) => {
      const review = await findReview(context, params.id);
      const notFound = { kind: "review_not_found", id: params.id } as const;
      return review === null ? refuse(reviewRefusals, notFound) : encodedJson(review, "no-store");
    })
    .post(pathOf(operations.approveReview), ({ params, body, operator }) =>
      decide(context, operator, { id: params.id, decision: "approved", body, shape: ApproveBody }),
    )
    .post(pathOf(operations.rejectReview), ({ params, body, operator }) =>
      decide(context, operator, { id: params.id, decision: "rejected", body, shape: RejectBody }),
    );

type Call = {
  id: string;
  decision: "approved" | "rejected";
  body: unknown;
  shape: typeof ApproveBody | typeof RejectBody;
};

async function decide(
  context: OperatorContext,
  operator: { name: string },
  { id, decision, body, shape }: Call,
): Promise<Response | EncodedBody> {
  // Approving as it stands needs no body at all.
  const read = shape.safeParse(body ?? {});
  if (!read.success) {
    return refuseBody(
      read.error,
      'Send {"reason": "…"} to reject; {} or {"value": "…", "reason": "…"} to approve.',
    );
  }
  const given: { value?: string | null | undefined; reason?: string | null | undefined } =
    read.data;
  const outcome = await decideReview(context, {
    id,
    decision,
    operator: operator.name,
    value: given.value ?? null,
    reason: given.reason ?? null,
  });
  return outcome.ok
    ? encodedJson(outcome.value, "no-store")
    : refuse(reviewRefusals, outcome.failure);
}

const errorsMax = 10;

/** The answer to a body that an operator's verb cannot use; `help` says what to send. */
export const refuseBody = (error: z.ZodError, help: string): Response => {
  const errors = error.issues
    .slice(0, errorsMax)
    .map(({ path, message }) => ({ path: path.join("."), message }));
  const [first] = errors;
  return problem({
    status: 400,
    code: "invalid_review",
    detail: `${help} ${first?.path ?? ""}: ${first?.message ?? ""}`,
    errors,
  });
};

/** Why a decision was not taken: the words of the desk and of its programs. */
export const reviewRefusals = {
  review_not_found: { status: 404, detail: "Nothing with this id waits for a decision." },
  review_decided: ({ status }) => ({ status: 409, detail: `This was decided before: ${status}.` }),
  field_has_value: ({ field }) => ({
    status: 409,
    detail: `The profile has a ${field} by now, and a live value is never overwritten. Reject this one.`,
  }),
  review_conflict: ({ message }) => ({ status: 409, detail: message }),
  review_value_not_usable: ({ message }) => ({ status: 400, detail: message }),
} as const satisfies FailureTable<ReviewFailure>;

/** POST /api/admin/nonprofits/{slug}/revoke: takes back a verification. */
const verificationRoutes = (context: OperatorContext) =>
  forOperators(context).post(
    pathOf(onboarding.revokeVerification),
    async ({ params, body, operator }) => {
      const read = RevokeBody.safeParse(body ?? {});
      if (!read.success) {
        return refuseBody(
          read.error,
          'Send {"reason": "…"}, or {"reason": "…", "take_back_values": true}.',
        );
      }
      const { reason, take_back_values } = read.data;
      const outcome = await revokeVerification(context, {
        slug: params.slug,
        operator: operator.name,
        reason,
        takeBackValues: take_back_values === true,
      });
      return outcome.ok
        ? encodedJson(outcome.value, "no-store")
        : refuse(revokeRefusals, outcome.failure);
    },
  );

/** Why a verification was not taken back, for all faces of the verb. */
export const revokeRefusals = {
  nonprofit_not_found: nonprofitNotFound,
  not_verified: { status: 409, detail: "This nonprofit is not verified: nothing to take back." },
} as const satisfies FailureTable<RevokeFailure>;

/** This many submissions are undone in one request: about two seconds of work. */
export const revertedPerRequest = 500;

/** What operators did, and undoing what an agent did. Never cached. */
const logRoutes = (context: OperatorContext) =>
  forOperators(context)
    .get(
      pathOf(operations.readAuditLog),
      async ({ query }) => {
        const { operator = null, action = null, subject = null, before = null, limit } = query;
        const page = { operator, action, subject, before, limit };
        return encodedJson(await readAudit(context, page), "no-store");
      },
      schemaOf(operations.readAuditLog),
    )
    .post(pathOf(operations.revertAgent), async ({ body, operator }) => {
      const read = RevertBody.safeParse(body);
      if (!read.success) return refuseBody(read.error, 'Send {"agent_id": "…", "reason": "…"}.');
      const { agent_id, reason } = read.data;
      const done = await revertAgent(context, {
        agent: agent_id,
        operator: operator.name,
        reason,
        submissionsMax: revertedPerRequest,
      });
      if (done.recommendations > 0) context.curated.lookAgain();
      return encodedJson(done, "no-store");
    });

/** What an operator watches: how the directory is, and what happened day by day. Never cached. */
const healthRoutes = (context: OperatorContext) =>
  forOperators(context)
    .get(pathOf(operations.getOperatorHealth), async () => {
      return encodedJson(await operatorHealth(healthContext(context)), "no-store");
    })
    .get(
      pathOf(operations.getDailyNumbers),
      async ({ query }) => {
        const count = query.days ?? daysLimit.default;
        return encodedJson(await dailyNumbers(context, count), "no-store");
      },
      schemaOf(operations.getDailyNumbers),
    );

/** The profiles that are recommended: list, add, edit and remove. Never cached. */
const pickRoutes = (context: OperatorContext) => {
  const changed = (outcome: Result<PickChange, PickFailure>): EncodedBody | Response => {
    if (!outcome.ok) return refuse(pickRefusals, outcome.failure);
    context.curated.lookAgain();
    return encodedJson(outcome.value, "no-store");
  };
  return forOperators(context)
    .get(
      pathOf(picks.listPicks),
      async ({ query }) => {
        const page = { after: query.after ?? null, limit: query.limit };
        return encodedJson(await listPicks(context, page), "no-store");
      },
      schemaOf(picks.listPicks),
    )
    .post(pathOf(picks.addPick), async ({ body, operator }) => {
      const read = PickBody.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      return changed(await addToPicks(context, { ...read.data, operator: operator.name }));
    })
    .post(pathOf(picks.editPick), async ({ params, body, operator }) => {
      const read = PickEdit.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      const { slug } = params;
      return changed(await editPick(context, { ...read.data, slug, operator: operator.name }));
    })
    .post(pathOf(picks.removePick), async ({ params, body, operator }) => {
      const read = PickRemoval.safeParse(body);
      if (!read.success) return refuseBody(read.error, 'Send {"reason": "…"}.');
      const { slug } = params;
      return changed(await removePick(context, { ...read.data, slug, operator: operator.name }));
    });
};

const help =
  'Send {"slug": "…", "recommended_for": ["donors interested in …"], "why_recommended": "…"} to add, without slug to edit.';

/** Why a recommendation was not added, edited or removed, for all faces of the operator's verbs. */
export const pickRefusals = {
  nonprofit_not_found: nonprofitNotFound,
  nonprofit_withdrawn: {
    status: 410,
    detail: "This nonprofit is withdrawn from its register: it cannot be recommended.",
  },
  pick_not_found: { status: 404, detail: "This nonprofit is not recommended." },
  pick_exists: {
    status: 409,
    detail: "This nonprofit is recommended already: edit its text instead.",
  },
  pick_in_file: {
    status: 409,
    detail:
      "content/editorial/starter-set.json holds this nonprofit, and what it says wins: edit it there.",
  },
  invalid_pick: ({ errors }) => ({
    status: 400,
    detail: errors
      .map(({ path, message }) => `${path}: ${message}`)
      .join(" ")
      .slice(0, 1_000),
    errors: errors.map(({ path, message }) => ({ path, message })),
  }),
} as const satisfies FailureTable<PickFailure>;

/** The log of webhooks for operators; testing the addresses, and sending once more. Never cached. */
const webhookRoutes = (context: OperatorContext) => {
  const { store, clock, config, secrets } = context;
  const verb = { store, clock, urls: config.webhookUrls, post: testPost(secrets, clock) };
  return forOperators(context)
    .get(
      pathOf(operations.readWebhookLog),
      async ({ query }) => {
        const { status = null, before = null, limit } = query;
        const page = { status, before, limit };
        return encodedJson(await readDeliveries(verb, page), "no-store");
      },
      schemaOf(operations.readWebhookLog),
    )
    .post(pathOf(operations.testWebhooks), async ({ operator }) => {
      const tested = await testWebhooks(verb, operator.name);
      return tested.ok
        ? encodedJson(tested.value, "no-store")
        : refuse(webhookRefusals, tested.failure);
    })
    .post(pathOf(operations.resendWebhook), async ({ params, operator }) => {
      const id = /^\d{1,15}$/.test(params.delivery) ? Number(params.delivery) : 0;
      const queued = await resendDelivery(verb, { id, operator: operator.name });
      return queued.ok
        ? encodedJson(queued.value, "no-store")
        : refuse(webhookRefusals, queued.failure);
    });
};

/** Why nothing was sent: the words of the desk, too. */
export const webhookRefusals = {
  webhooks_off: {
    status: 409,
    detail: "Webhooks are off: ALMONER_WEBHOOK_URLS lists no address.",
  },
  delivery_not_found: { status: 404, detail: "The log has no delivery with this number." },
  delivery_under_way: { status: 409, detail: "This delivery is queued already." },
  address_not_listed: ({ url }) => ({
    status: 409,
    detail: `ALMONER_WEBHOOK_URLS does not list ${url} (or no longer does): nothing is sent there.`,
  }),
} as const satisfies FailureTable<WebhookFailure>;
