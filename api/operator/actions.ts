import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { type FailureTable, type Refusal, refusalOf } from "#api/http/problem.ts";
import {
  readDeliveries,
  resendDelivery,
  testWebhooks,
  type WebhookFailure,
} from "#api/webhooks/deliveries.ts";
import { testPost } from "#api/webhooks/post.ts";
import { verificationOperations } from "#content/contract/operations/onboarding.ts";
import type { Operation, ParamsOf } from "#content/contract/operations/operation.ts";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import { pickOperations as picks } from "#content/contract/operations/recommendation.ts";
import { daysLimit } from "#content/contract/operator.ts";
import { nonprofitNotFound, wrongsOf } from "#content/contract/problem.ts";
import type { PickChange } from "#content/contract/recommendation.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { readAudit } from "#content/operation/audit-store.ts";
import { dailyNumbers, type HealthContext, operatorHealth } from "./health.ts";
import { addToPicks, editPick, listPicks, type PickFailure, removePick } from "./picks.ts";
import { revertAgent } from "./revert.ts";
import type { ReviewFailure } from "./open-queue.ts";
import { decideReview, findReview, listReviews, reviewQueues } from "./review-queues.ts";
import { type RevokeFailure, revokeVerification } from "./revoke-verification.ts";

/** What operators' work needs of the service; a command without one hands in its own. */
export type OperatorContext = Pick<Context, "secrets" | "waitForPublication"> &
  HealthContext & {
    readonly limits: Pick<Context["limits"], "adminFailures">;
    readonly activity: Pick<Context["activity"], "count">;
    readonly curated: Pick<Context["curated"], "lookAgain">;
  };

type Given<Path extends string, Query extends z.ZodObject, Body extends z.ZodObject> = {
  /** The name of who asks. */
  operator: string;
  params: ParamsOf<Path>;
  query: z.output<Query>;
  body: z.output<Body>;
};

type Unchecked<Path extends string> = {
  operator: string;
  params: ParamsOf<Path>;
  /** As the operation's schema read it. */
  query?: unknown;
  body?: unknown;
};

/** One thing that operators do: the JSON API and the desk do it alike. */
export type Action<Path extends string = string, Value = unknown> = {
  operation: Pick<Operation<Path>, "method" | "path" | "query">;
  /** Checks the body and does it. A body that cannot be used is refused as `invalid_review`. */
  perform(context: OperatorContext, given: Unchecked<Path>): Promise<Result<Value, Refusal>>;
};

function action<
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodObject | "text",
  Value,
  Failure extends { kind: string },
>(
  operation: Operation<Path, Query, Body, Answer>,
  run: (
    context: OperatorContext,
    given: Given<Path, Query, Body>,
  ) => Promise<Result<Value, Failure>>,
  refusals: FailureTable<Failure>,
  /** `help`: what to send instead of a body that cannot be used; `bodyless`: none stands for an empty one. */
  { help = "", bodyless = false } = {},
): Action<Path, Value> {
  return {
    operation,
    perform: async (context, { operator, params, query, body }) => {
      const read = operation.body?.shape.safeParse(bodyless ? (body ?? {}) : body);
      if (read?.success === false) return fail(invalidReview(read.error, help));
      // An operation that takes none of them is never asked for them.
      const checked = { query: query as z.output<Query>, body: read?.data as z.output<Body> };
      const outcome = await run(context, { operator, params, ...checked });
      return outcome.ok ? outcome : fail(refusalOf(refusals, outcome.failure));
    },
  };
}

/** An action that only looks: nothing of it is refused. */
const reading = <
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodObject | "text",
  Value,
>(
  operation: Operation<Path, Query, Body, Answer>,
  read: (context: OperatorContext, query: z.output<Query>) => Promise<Value>,
): Action<Path, Value> =>
  action(operation, async (context, { query }) => ok(await read(context, query)), {});

/** Why a body cannot be used; `help` says what to send. */
function invalidReview(error: z.ZodError, help: string): Refusal {
  const errors = wrongsOf(error);
  const detail = `${help} ${errors[0]?.path ?? ""}: ${errors[0]?.message ?? ""}`;
  return { status: 400, code: "invalid_review", detail, errors };
}

/** Why a decision was not taken. */
const reviewRefusals: FailureTable<ReviewFailure> = {
  review_not_found: { status: 404, detail: "Nothing with this id waits for a decision." },
  review_decided: ({ status }) => ({ status: 409, detail: `This was decided before: ${status}.` }),
  field_has_value: ({ field }) => ({
    status: 409,
    detail: `The profile has a ${field} by now, and a live value is never overwritten. Reject this one.`,
  }),
  review_conflict: ({ message }) => ({ status: 409, detail: message }),
  review_value_not_usable: ({ message }) => ({ status: 400, detail: message }),
};

/** Why a verification was not taken back. */
const revokeRefusals: FailureTable<RevokeFailure> = {
  nonprofit_not_found: nonprofitNotFound,
  not_verified: { status: 409, detail: "This nonprofit is not verified: nothing to take back." },
};

/** Why a recommendation was not added, edited or removed. */
const pickRefusals: FailureTable<PickFailure> = {
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
};

/** Why nothing was sent. */
const webhookRefusals: FailureTable<WebhookFailure> = {
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
};

const webhooks = ({ store, clock, config, secrets }: OperatorContext) => ({
  store,
  clock,
  urls: config.webhookUrls,
  post: testPost(secrets, clock),
});

/** After a change of what is recommended this process reads it again. */
async function shown<Failure>(
  { curated }: OperatorContext,
  changing: Promise<Result<PickChange, Failure>>,
): Promise<Result<PickChange, Failure>> {
  const changed = await changing;
  if (changed.ok) curated.lookAgain();
  return changed;
}

/** This many submissions are undone in one request: about two seconds of work. */
const revertedPerRequest = 500;

const decisionHelp = {
  help: 'Send {"reason": "…"} to reject; {} or {"value": "…", "reason": "…"} to approve.',
  bodyless: true,
};
const pickHelp = {
  help: 'Send {"slug": "…", "recommended_for": ["donors interested in …"], "why_recommended": "…"} to add, without slug to edit.',
};

/** All that operators do. */
export const actions = {
  countReviews: reading(operations.countReviews, async (context) => ({
    queues: await reviewQueues(context),
  })),
  listReviews: reading(operations.listReviews, async (context, query) => {
    const { reviews, next } = await listReviews(context, query);
    return { count: reviews.length, reviews, next };
  }),
  getReview: action(
    operations.getReview,
    async (context, { params: { id } }) => {
      const review = await findReview(context, id);
      return review === null ? fail({ kind: "review_not_found", id } as const) : ok(review);
    },
    reviewRefusals,
  ),
  approveReview: action(
    operations.approveReview,
    (context, { params: { id }, body: { value = null, reason = null }, operator }) =>
      decideReview(context, { id, decision: "approved", operator, value, reason }),
    reviewRefusals,
    decisionHelp,
  ),
  rejectReview: action(
    operations.rejectReview,
    (context, { params: { id }, body: { reason }, operator }) =>
      decideReview(context, { id, decision: "rejected", operator, value: null, reason }),
    reviewRefusals,
    decisionHelp,
  ),
  readAuditLog: reading(operations.readAuditLog, readAudit),
  revertAgent: action(
    operations.revertAgent,
    async (context, { body: { agent_id: agent, reason }, operator }) => {
      const reverting = { agent, operator, reason, submissionsMax: revertedPerRequest };
      const done = await revertAgent(context, reverting);
      if (done.recommendations > 0) context.curated.lookAgain();
      return ok(done);
    },
    {},
    { help: 'Send {"agent_id": "…", "reason": "…"}.' },
  ),
  revokeVerification: action(
    verificationOperations.revokeVerification,
    (context, { params: { slug }, body: { reason, take_back_values }, operator }) => {
      const takeBackValues = take_back_values === true;
      return revokeVerification(context, { slug, operator, reason, takeBackValues });
    },
    revokeRefusals,
    {
      help: 'Send {"reason": "…"}, or {"reason": "…", "take_back_values": true}.',
      bodyless: true,
    },
  ),
  getOperatorHealth: reading(operations.getOperatorHealth, operatorHealth),
  getDailyNumbers: reading(operations.getDailyNumbers, (context, { days = daysLimit.default }) =>
    dailyNumbers(context, days),
  ),
  listPicks: reading(picks.listPicks, listPicks),
  addPick: action(
    picks.addPick,
    (context, { body, operator }) => shown(context, addToPicks(context, { ...body, operator })),
    pickRefusals,
    pickHelp,
  ),
  editPick: action(
    picks.editPick,
    (context, { params: { slug }, body, operator }) =>
      shown(context, editPick(context, { ...body, slug, operator })),
    pickRefusals,
    pickHelp,
  ),
  removePick: action(
    picks.removePick,
    (context, { params: { slug }, body: { reason }, operator }) =>
      shown(context, removePick(context, { slug, reason, operator })),
    pickRefusals,
    { help: 'Send {"reason": "…"}.' },
  ),
  readWebhookLog: reading(operations.readWebhookLog, (context, query) =>
    readDeliveries(webhooks(context), query),
  ),
  testWebhooks: action(
    operations.testWebhooks,
    (context, { operator }) => testWebhooks(webhooks(context), operator),
    webhookRefusals,
  ),
  resendWebhook: action(
    operations.resendWebhook,
    (context, { params: { delivery }, operator }) => {
      const id = /^\d{1,15}$/.test(delivery) ? Number(delivery) : 0;
      return resendDelivery(webhooks(context), { id, operator });
    },
    webhookRefusals,
  ),
};
