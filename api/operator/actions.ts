import details from "#content/editorial/problem-details.json";
import { fillDetail } from "#content/contract/base/fill.ts";
import { Elysia } from "elysia";
import { z } from "zod";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import {
  type FailureTable,
  problem,
  type Refusal,
  refusalOf,
  unusableBody,
} from "#api/http/problem.ts";
import { pathOf, schemaOf } from "#api/http/route.ts";
import { checkHost, type HostProofFailure } from "#content/onboarding/prove-host.ts";
import { verificationOperations } from "#content/contract/operations/onboarding.ts";
import type { Operation, ParamsOf } from "#content/contract/operations/operation.ts";
import {
  operatorOperations as operations,
  profileOperations as profiles,
} from "#content/contract/operations/operator.ts";
import { pickOperations as picks } from "#content/contract/operations/recommendation.ts";
import { nonprofitNotFound, fitted, type Wrong } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { DecideManyBody, ReviewsDecided } from "#content/contract/review.ts";
import { listGaps } from "#content/enrichment/gap-store.ts";
import { readAudit } from "#content/operation/audit-store.ts";
import {
  editProfile,
  mergeProfile,
  type ProfileFailure,
  restoreProfile,
  withdrawProfile,
  revokeVerification,
} from "#content/operator/change-profile.ts";
import { operatorHealth, operatorNumbers } from "./health.ts";
import {
  approveAgentName,
  bindForOwner,
  listAgentSubmissions,
  type NameFailure,
} from "#content/operator/agents.ts";
import { type OperatorContext, operatorOf } from "./operators.ts";
import {
  addToPicks,
  editPick,
  listPicks,
  type PickFailure,
  removePick,
} from "#content/operator/picks.ts";
import { revertAgent } from "#content/operator/revert.ts";
import type { ReviewFailure } from "#content/requests/kind.ts";
import {
  decideReview,
  eraseContacts,
  findReview,
  listReviews,
  reviewQueues,
} from "#api/operator/requests.ts";
import { hostProofAnswers, openHostProof } from "#api/onboarding/host-proof.ts";

/** The input of an action: the operator's name, and what the operation takes. */
type ActionCall<Path extends string> = {
  operator: string;
  params: ParamsOf<Path>;
  query?: unknown;
  body?: unknown;
};

/** One action of operators, shared by the JSON API and the desk. */
export type Action<Path extends string = string, Value = unknown> = {
  operation: Pick<Operation<Path>, "method" | "path" | "query" | "body">;
  /** Checks the body and acts. A body that cannot be used is refused as `invalid_review`. */
  perform(context: OperatorContext, call: ActionCall<Path>): Promise<Result<Value, Refusal>>;
};

/** An action that calls a verb with the members of path and body. `bodyless`: a missing body counts as an empty one. */
const action = <Path extends string, Body extends z.ZodObject, Value>(
  operation: Operation<Path, z.ZodObject, Body>,
  verb: (
    context: OperatorContext,
    input: ParamsOf<Path> & z.output<Body> & { operator: string },
  ) => Promise<Result<Value, Failure>>,
  { bodyless = false } = {},
): Action<Path, Value> => ({
  operation,
  perform: async (context, { operator, params, body }) => {
    const shape = operation.body?.shape;
    const read = shape && fitted(shape, bodyless ? (body ?? {}) : body);
    if (read?.ok === false) return fail(invalidReview(read.failure, operation));
    // An operation without a body has no shape, so nothing is read.
    const input = Object.assign({}, read?.value as z.output<Body>, params, { operator });
    const outcome = await verb(context, input);
    return outcome.ok ? outcome : fail(refusalOf(refusals, outcome.failure));
  },
});

/** An action that only reads, and refuses nothing. */
const reading = <Path extends string, Query extends z.ZodObject, Value>(
  operation: Operation<Path, Query>,
  read: (context: OperatorContext, query: z.output<Query>) => Promise<Value>,
): Action<Path, Value> => ({
  operation,
  perform: async (context, { query }) => ok(await read(context, query as z.output<Query>)),
});

/** Hints for a body that cannot be used, by operation. */
const helps: Readonly<Record<string, string>> = details.operator_help;

function invalidReview(errors: Wrong[], { operationId }: Pick<Operation, "operationId">): Refusal {
  const detail = `${helps[operationId] ?? ""} ${errors[0]?.path ?? ""}: ${errors[0]?.message ?? ""}`;
  return { status: 400, code: "invalid_review", detail, errors };
}

type Failure = HostProofFailure | ProfileFailure | ReviewFailure | PickFailure | NameFailure;

const says = details.operator;
const refusals: FailureTable<Failure> = {
  ...hostProofAnswers,
  ...says,
  review_decided: (failure) => fillDetail(says.review_decided, failure),
  field_has_value: (failure) => fillDetail(says.field_has_value, failure),
  name_of_no_owner: (failure) => fillDetail(says.name_of_no_owner, failure),
  name_in_use: (failure) => fillDetail(says.name_in_use, failure),
  name_taken: (failure) => fillDetail(says.name_taken, failure),
  review_conflict: ({ message }) => ({ status: 409, detail: message }),
  review_value_not_usable: ({ message }) => ({ status: 400, detail: message }),
  profile_conflict: ({ message }) => ({ status: 409, detail: message }),
  invalid_profile: ({ errors }) => unusableBody(errors),
  nonprofit_not_found: nonprofitNotFound,
  invalid_pick: ({ errors }) => ({
    status: 400,
    detail: errors
      .map(({ path, message }) => `${path}: ${message}`)
      .join(" ")
      .slice(0, 1_000),
    errors: errors.map(({ path, message }) => ({ path, message })),
  }),
};

export const paramsIn = (path: string): string[] => path.match(/(?<=\{)\w+(?=\})/g) ?? [];

/** A shape without optional and nullable wrappers. */
export const typeOf = (shape: z.ZodType): z.ZodType =>
  shape instanceof z.ZodOptional || shape instanceof z.ZodNullable
    ? typeOf(shape.unwrap() as z.ZodType)
    : shape;

/** A typed text as a value of this shape: the text itself, or the entries (texts or numbers) of a list. */
export function typedValue(shape: z.ZodType, text: string, separator: string): unknown {
  const type = typeOf(shape);
  if (!(type instanceof z.ZodArray)) return text;
  const entries = text.split(separator).flatMap((entry) => entry.trim() || []);
  return type.element instanceof z.ZodNumber ? entries.map(Number) : entries;
}

/** Applies one decision to several reviews, each in its own transaction: a failure does not affect the others. */
async function decideMany(
  waiting: OperatorContext,
  { ids, ...deciding }: z.output<typeof DecideManyBody> & { operator: string },
): Promise<Result<ReviewsDecided, Failure>> {
  const { waitForPublication: _, ...context } = waiting;
  if (deciding.decision === "rejected" && deciding.reason == null) {
    return fail({ kind: "review_value_not_usable", message: "Send reason: the senders read it." });
  }
  const results: ReviewsDecided["results"] = [];
  for (const id of new Set(ids)) {
    const outcome = await decideReview(context, { ...deciding, id });
    const message = outcome.ok
      ? outcome.value.message
      : refusalOf<Failure>(refusals, outcome.failure).detail;
    results.push({ id, done: outcome.ok && outcome.value.complete, message });
  }
  return ok({ done: results.filter(({ done }) => done).length, results });
}

export const actions = {
  countReviews: reading(operations.countReviews, async (context) => ({
    queues: await reviewQueues(context),
  })),
  listReviews: reading(operations.listReviews, listReviews),
  getReview: action(operations.getReview, async (context, { id }) => {
    const review = await findReview(context, id);
    return review === null ? fail({ kind: "review_not_found", id }) : ok(review);
  }),
  approveReview: action(
    operations.approveReview,
    (context, call) => decideReview(context, { ...call, decision: "approved" }),
    { bodyless: true },
  ),
  rejectReview: action(
    operations.rejectReview,
    (context, call) => decideReview(context, { ...call, decision: "rejected" }),
    { bodyless: true },
  ),
  decideReviews: action(operations.decideReviews, decideMany),
  checkHostControl: action(verificationOperations.checkHostControl, (context, call) =>
    checkHost(openHostProof(context, null), call),
  ),
  readAuditLog: reading(operations.readAuditLog, readAudit),
  listGaps: reading(operations.listGaps, listGaps),
  revertAgent: action(operations.revertAgent, revertAgent),
  listAgentSubmissions: reading(operations.listAgentSubmissions, listAgentSubmissions),
  bindAgentForOwner: action(operations.bindAgentForOwner, bindForOwner),
  approveAgentName: action(operations.approveAgentName, approveAgentName),
  eraseContacts: action(verificationOperations.eraseContacts, eraseContacts),
  revokeVerification: action(verificationOperations.revokeVerification, revokeVerification, {
    bodyless: true,
  }),
  withdrawProfile: action(profiles.withdrawProfile, withdrawProfile),
  restoreProfile: action(profiles.restoreProfile, restoreProfile),
  editProfile: action(profiles.editProfile, editProfile),
  mergeProfile: action(profiles.mergeProfile, mergeProfile),
  getOperatorHealth: reading(operations.getOperatorHealth, operatorHealth),
  getDailyNumbers: reading(operations.getDailyNumbers, operatorNumbers),
  listPicks: reading(picks.listPicks, listPicks),
  addPick: action(picks.addPick, addToPicks),
  editPick: action(picks.editPick, editPick),
  removePick: action(picks.removePick, removePick),
};

const all: readonly Action[] = Object.values(actions);

/** The operator's JSON API. Requests without an operator's token are refused before anything else; nothing is cached. */
export function operatorRoutes(context: Context) {
  const routes = new Elysia().derive(async ({ request }) => ({
    operator: await operatorOf(context, request),
  }));
  for (const entry of all) {
    const { operation } = entry;
    routes.route(
      operation.method.toUpperCase(),
      pathOf(operation),
      async ({ operator, params, query, body }) => {
        const outcome = await entry.perform(context, { operator, params, query, body });
        return outcome.ok ? encodedJson(outcome.value, "no-store") : problem(outcome.failure);
      },
      schemaOf(operation),
    );
  }
  return routes;
}
