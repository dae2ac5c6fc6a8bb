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
} from "#content/contract/enrichment-answers.ts";
import { change, operations } from "./operation.ts";
import { GapList } from "#content/contract/correction.ts";
import {
  ProfileChange,
  ProfileEdit,
  ProfileMerge,
  ProfileReason,
} from "#content/contract/profile-change.ts";

const agentId = parameter(
  (raw) => raw.trim(),
  z.string({ error: "agent_id is the id of an agent." }).min(1).max(128),
  "Id of the agent",
  "research-bot-7",
);

export const operatorOperations = operations("Operator", {
  listReviews: {
    path: addresses.reviews.path,
    query: z.object({
      kind: choice("kind", reviewKinds, "Only reviews of this kind", "prose"),
      limit: limit(operatorPage.default, operatorPage.max),
      after: text("`next` of the page before", "prose-12", 300),
    }),
    ok: { description: "The reviews", shape: ReviewList },
  },
  getReview: {
    path: addresses.review.path,
    ok: { description: "It waits", shape: ReviewItem },
  },
  countReviews: {
    path: addresses.queues.path,
    ok: { description: "The queues", shape: ReviewQueues },
  },
  approveReview: change(addresses.approve, ApproveBody, ["Decided", ReviewDecision], [409]),
  rejectReview: change(addresses.reject, RejectBody, ["Decided", ReviewDecision], [409]),
  decideReviews: change(addresses.reviews, DecideManyBody, ["What was decided", ReviewsDecided]),
  readAuditLog: {
    path: addresses.auditLog.path,
    query: z.object({
      operator: text("Only what this operator did", "operator", 64),
      action: text("Only this action", "review.rejected", 64),
      subject: text("Only what was done to this", "prose-12", 300),
      before: number("before", "`next` of the page before", 41),
      limit: limit(operatorPage.default, operatorPage.max),
    }),
    ok: { description: "A page of the log", shape: AuditLog },
  },
  listGaps: {
    path: addresses.gapList.path,
    query: z.object({ limit: limit(operatorPage.default, operatorPage.max) }),
    ok: { description: "The sentences", shape: GapList },
  },
  revertAgent: change(addresses.revertAgent, RevertBody, ["Undone", Reverted]),
  listAgentSubmissions: {
    path: addresses.agentSubmissions.path,
    query: z.object({
      agent_id: agentId,
      after: number("after", "`next` of the page before", 41),
      limit: limit(operatorPage.default, operatorPage.max),
    }),
    ok: { description: "The submissions", shape: AgentSubmissions },
  },
  bindAgentForOwner: change(
    addresses.bindForOwner,
    BindForOwnerBody,
    ["Bound", AgentSecret],
    [409],
  ),
  approveAgentName: change(addresses.nameAgent, AgentNameBody, ["Approved", AgentNamed], [409]),
  getOperatorHealth: {
    path: addresses.operatorHealth.path,
    ok: { description: "Its health", shape: OperatorHealth },
  },
  getDailyNumbers: {
    path: addresses.dailyNumbers.path,
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

const doneAnswer = ["Done", ProfileChange] as const;

/** Corrections of the directory by operators. */
export const profileOperations = operations("Operator", {
  withdrawProfile: change(addresses.withdrawNonprofit, ProfileReason, doneAnswer, [409]),
  restoreProfile: change(addresses.restoreNonprofit, ProfileReason, doneAnswer, [409]),
  editProfile: change(addresses.editNonprofit, ProfileEdit, doneAnswer, [409]),
  mergeProfile: change(addresses.mergeNonprofit, ProfileMerge, doneAnswer, [409]),
});
