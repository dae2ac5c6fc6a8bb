import { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import { choice, limit, number, parameter, text } from "./query.ts";
import {
  AuditLog,
  OperatorHealth,
  OperatorNumbers,
  daysLimit,
} from "#content/contract/operator.ts";
import {
  ApproveBody,
  DecideManyBody,
  RejectBody,
  RevertBody,
  Reverted,
  ReviewDecision,
  ReviewItem,
  ReviewList,
  ReviewQueues,
  ReviewsDecided,
  operatorPage,
  reviewKinds,
} from "#content/contract/review.ts";
import {
  AgentNameBody,
  AgentNamed,
  AgentSecret,
  AgentSubmissions,
  BindForOwnerBody,
} from "#content/contract/agent-keys.ts";
import { operations } from "./operation.ts";

const agentId = parameter(
  (given) => given.trim(),
  z.string({ error: "agent_id is the id of an agent." }).min(1).max(128),
  "Id of the agent",
  "research-bot-7",
);

/** What only operators do. */
export const operatorOperations = operations("Operator", {
  listReviews: {
    path: addresses.reviews.path,
    summary: "List what waits for an operator",
    description:
      "The oldest first; of claims and registrations those with a proven host before the others.",
    query: z.object({
      kind: choice("kind", reviewKinds, "Only reviews of this kind", "prose"),
      limit: limit(operatorPage.default, operatorPage.max),
      after: text("`next` of the page before", "prose-12", 300),
    }),
    ok: { description: "The reviews", shape: ReviewList },
  },
  getReview: {
    path: addresses.review.path,
    summary: "Get one thing that waits",
    description: "As in the list.",
    ok: { description: "It waits", shape: ReviewItem },
  },
  countReviews: {
    path: addresses.queues.path,
    summary: "Count what waits, by kind",
    description: "Counting stops at 100,000.",
    ok: { description: "The queues", shape: ReviewQueues },
  },
  approveReview: {
    method: "post",
    path: addresses.approve.path,
    summary: "Approve what waits",
    description: "`value` is edited prose, or the chosen value of a contested field.",
    body: { shape: ApproveBody },
    ok: { description: "Decided", shape: ReviewDecision },
    refusals: [409],
  },
  rejectReview: {
    method: "post",
    path: addresses.reject.path,
    summary: "Reject what waits, with a reason",
    description: "The reason is kept with the decision.",
    body: { shape: RejectBody },
    ok: { description: "Decided", shape: ReviewDecision },
    refusals: [409],
  },
  decideReviews: {
    method: "post",
    path: addresses.reviews.path,
    summary: "Approve or reject many at once",
    description:
      "Each is decided by itself, with a line of its own in the audit log: what cannot be decided says why. Values cannot be edited here.",
    body: { shape: DecideManyBody },
    ok: { description: "What was decided", shape: ReviewsDecided },
  },
  readAuditLog: {
    path: addresses.auditLog.path,
    summary: "Read what operators did",
    description: "The newest first; log entries are never changed or deleted.",
    query: z.object({
      operator: text("Only what this operator did", "operator", 64),
      action: text("Only this action", "review.rejected", 64),
      subject: text("Only what was done to this", "prose-12", 300),
      before: number("before", "`next` of the page before", 41),
      limit: limit(operatorPage.default, operatorPage.max),
    }),
    ok: { description: "A page of the log", shape: AuditLog },
  },
  revertAgent: {
    method: "post",
    path: addresses.revertAgent.path,
    summary: "Undo what an agent's agreement made live, or named submissions",
    description:
      "With `agent_id` all of it; with `submissions` (listAgentSubmissions has their numbers) only those, because anyone can submit under an id that is not bound. Empties the fields, rejects the submissions that agreed, takes credit back, ends recommendations that rest on its vote; the logs stay. At most about 500 submissions at once: `complete` says whether there are more.",
    body: { shape: RevertBody },
    ok: { description: "Undone", shape: Reverted },
  },
  listAgentSubmissions: {
    path: addresses.agentSubmissions.path,
    summary: "List what an agent's agreement made live",
    description: "By number, until reverted: what revertAgent takes in `submissions`.",
    query: z.object({
      agent_id: agentId,
      after: number("after", "`next` of the page before", 41),
      limit: limit(operatorPage.default, operatorPage.max),
    }),
    ok: { description: "The submissions", shape: AgentSubmissions },
  },
  bindAgentForOwner: {
    method: "post",
    path: addresses.bindForOwner.path,
    summary: "Bind an agent_id for its owner",
    description:
      "Also one that has submitted, was given up, or whose secret is lost. Hand `agent_secret` to the owner: it is shown once, and an earlier one ends.",
    body: { shape: BindForOwnerBody },
    ok: { description: "Bound", shape: AgentSecret },
  },
  approveAgentName: {
    method: "post",
    path: addresses.nameAgent.path,
    summary: "Approve the name of an agent",
    description:
      "Of one whose id is bound: the name stands where its id would, on the leaderboard and where it finds what is live already. Null takes the approval back, and so does binding the id again.",
    body: { shape: AgentNameBody },
    ok: { description: "Approved", shape: AgentNamed },
  },
  getOperatorHealth: {
    path: addresses.operatorHealth.path,
    summary: "Get the health of the directory",
    description: "Asks the chain one question and waits for it at most 3 s.",
    ok: { description: "Its health", shape: OperatorHealth },
  },
  getDailyNumbers: {
    path: addresses.dailyNumbers.path,
    summary: "Read what happened day by day, and what recommendations led to",
    description: "Days are in UTC; the last one is today so far.",
    query: z.object({
      days: number(
        "days",
        `${daysLimit.default} unless given, at most ${daysLimit.max}`,
        daysLimit.default,
        daysLimit.max,
      ),
    }),
    ok: { description: "The numbers", shape: OperatorNumbers },
  },
});
