import { Elysia } from "elysia";
import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { type EncodedBody, encodedJson } from "#api/http/encoded-body.ts";
import { type FailureTable, problem, refuse } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";
import { testPost } from "#api/webhooks/post.ts";
import {
  deliveriesMax,
  readDeliveries,
  resendDelivery,
  testWebhooks,
  type WebhookFailure,
} from "#api/webhooks/deliveries.ts";
import { RevokeBody } from "#content/contract/onboarding.ts";
import { PickBody, type PickChange, PickEdit, PickRemoval } from "#content/contract/pick.ts";
import type { Result } from "#content/contract/result.ts";
import { ApproveBody, RejectBody, RevertBody, reviewKinds } from "#content/contract/review.ts";
import { webhookStatuses } from "#content/contract/webhook.ts";
import { auditPageMax, readAudit } from "#content/operation/audit-store.ts";
import {
  dailyNumbers,
  daysDefault,
  daysMax,
  type HealthContext,
  healthContext,
  operatorHealth,
} from "./health.ts";
import { operatorOf } from "./operators.ts";
import {
  addToPicks,
  editPick,
  listPicks,
  type PickFailure,
  picksPageMax,
  removePick,
} from "./picks.ts";
import { revertAgent } from "./revert.ts";
import type { ReviewFailure } from "./review-queue.ts";
import { decideReview, findReview, listReviews, reviewQueues, reviewsMax } from "./review.ts";
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

/** The operator's reviews for programs: queues, one of them, and approve and reject of one. Never cached. */
const reviewRoutes = (context: OperatorContext) =>
  new Elysia()
    .get("/api/admin/queues", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      return encodedJson({ queues: await reviewQueues(context) }, "no-store");
    })
    .get("/api/admin/reviews", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const kind = query.choice("kind", { values: reviewKinds, fallback: null });
      const limit = query.limit({ fallback: 50, max: reviewsMax });
      if (!kind.ok) return refuseParameter(kind.failure);
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = { kind: kind.value, limit: limit.value, after: query.text("after") };
      const { reviews, next } = await listReviews(context, page);
      return encodedJson({ count: reviews.length, reviews, next }, "no-store");
    })
    .get("/api/admin/reviews/:id", async ({ params, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const review = await findReview(context, params.id);
      const notFound = { kind: "review_not_found", id: params.id } as const;
      return review === null ? refuse(reviewRefusals, notFound) : encodedJson(review, "no-store");
    })
    .post("/api/admin/reviews/:id/approve", ({ params, body, request }) =>
      decide(context, request, { id: params.id, decision: "approved", body, shape: ApproveBody }),
    )
    .post("/api/admin/reviews/:id/reject", ({ params, body, request }) =>
      decide(context, request, { id: params.id, decision: "rejected", body, shape: RejectBody }),
    );

type Call = {
  id: string;
  decision: "approved" | "rejected";
  body: unknown;
  shape: typeof ApproveBody | typeof RejectBody;
};

async function decide(
  context: OperatorContext,
  request: Request,
  { id, decision, body, shape }: Call,
): Promise<Response | EncodedBody> {
  const operator = operatorOf(context, request);
  if (operator instanceof Response) return operator;
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
    detail: `The profile holds a ${field} by now, which is never overwritten. Reject this one.`,
  }),
  review_conflict: ({ message }) => ({ status: 409, detail: message }),
  review_value_not_usable: ({ message }) => ({ status: 400, detail: message }),
} as const satisfies FailureTable<ReviewFailure>;

/** POST /api/admin/nonprofits/{slug}/revoke: takes back a verification. */
const verificationRoutes = (context: OperatorContext) =>
  new Elysia().post("/api/admin/nonprofits/:slug/revoke", async ({ params, body, request }) => {
    const operator = operatorOf(context, request);
    if (operator instanceof Response) return operator;
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
  });

/** Why a verification was not taken back, for all faces of the verb. */
export const revokeRefusals = {
  nonprofit_not_found: { status: 404, detail: "No nonprofit has this slug." },
  not_verified: { status: 409, detail: "This nonprofit is not verified: nothing to take back." },
} as const satisfies FailureTable<RevokeFailure>;

/** So many submissions are undone in one request: about two seconds of work. */
export const revertedPerRequest = 500;

/** What operators did, and undoing what an agent did. Never cached. */
const logRoutes = (context: OperatorContext) =>
  new Elysia()
    .get("/api/admin/audit", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const before = query.number("before");
      const limit = query.limit({ fallback: 50, max: auditPageMax });
      if (!before.ok) return refuseParameter(before.failure);
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = {
        operator: query.text("operator", 64),
        action: query.text("action", 64),
        subject: query.text("subject", 300),
        before: before.value,
        limit: limit.value,
      };
      return encodedJson(await readAudit(context, page), "no-store");
    })
    .post("/api/admin/agents/revert", async ({ body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
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
  new Elysia()
    .get("/api/admin/health", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      return encodedJson(await operatorHealth(healthContext(context)), "no-store");
    })
    .get("/api/admin/numbers", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const days = queryOf(request.url).number("days");
      if (!days.ok) return refuseParameter(days.failure);
      const count = Math.min(days.value ?? daysDefault, daysMax);
      return encodedJson(await dailyNumbers(context, count), "no-store");
    });

/** The profiles that are recommended: list, add, edit and remove. Never cached. */
const pickRoutes = (context: OperatorContext) => {
  const changed = (outcome: Result<PickChange, PickFailure>): EncodedBody | Response => {
    if (!outcome.ok) return refuse(pickRefusals, outcome.failure);
    context.curated.lookAgain();
    return encodedJson(outcome.value, "no-store");
  };
  return new Elysia()
    .get("/api/admin/picks", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const limit = query.limit({ fallback: 50, max: picksPageMax });
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = { after: query.text("after", 200), limit: limit.value };
      return encodedJson(await listPicks(context, page), "no-store");
    })
    .post("/api/admin/picks", async ({ body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const read = PickBody.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      return changed(await addToPicks(context, { ...read.data, operator: operator.name }));
    })
    .post("/api/admin/picks/:slug", async ({ params, body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const read = PickEdit.safeParse(body);
      if (!read.success) return refuseBody(read.error, help);
      const { slug } = params;
      return changed(await editPick(context, { ...read.data, slug, operator: operator.name }));
    })
    .post("/api/admin/picks/:slug/remove", async ({ params, body, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
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
  nonprofit_not_found: { status: 404, detail: "No nonprofit has this slug." },
  nonprofit_withdrawn: {
    status: 410,
    detail: "This nonprofit is withdrawn from its register: it cannot be recommended.",
  },
  pick_not_found: { status: 404, detail: "This nonprofit is not recommended." },
  pick_exists: {
    status: 409,
    detail: "This nonprofit is recommended already: edit what is said of it.",
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
  return new Elysia()
    .get("/api/admin/webhooks", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const status = query.choice("status", { values: webhookStatuses, fallback: null });
      const before = query.number("before");
      const limit = query.limit({ fallback: 50, max: deliveriesMax });
      if (!status.ok) return refuseParameter(status.failure);
      if (!before.ok) return refuseParameter(before.failure);
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = { status: status.value, before: before.value, limit: limit.value };
      return encodedJson(await readDeliveries(verb, page), "no-store");
    })
    .post("/api/admin/webhooks/test", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const tested = await testWebhooks(verb, operator.name);
      return tested.ok
        ? encodedJson(tested.value, "no-store")
        : refuse(webhookRefusals, tested.failure);
    })
    .post("/api/admin/webhooks/:delivery/resend", async ({ params, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
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
  delivery_under_way: { status: 409, detail: "It is on its way already." },
  address_not_listed: ({ url }) => ({
    status: 409,
    detail: `ALMONER_WEBHOOK_URLS does not list ${url} (any more): nothing is sent there.`,
  }),
} as const satisfies FailureTable<WebhookFailure>;
