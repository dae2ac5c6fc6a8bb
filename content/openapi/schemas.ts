import { z } from "zod";
import { AuditEntry, AuditLog } from "#content/contract/audit.ts";
import { Cause, CauseId, CauseList } from "#content/contract/cause.ts";
import {
  EnrichmentAnswer,
  EnrichmentStats,
  EnrichmentSubmission,
  Exemplars,
  HelpWanted,
  History,
  Leaderboard,
  PriorRejection,
  SecondOpinion,
  ThinProfile,
} from "#content/contract/enrichment-answers.ts";
import {
  Cluster,
  DonateBody,
  DonationHistory,
  DonationRecord,
  DonationStatus,
  PaymentExtra,
  PaymentOptionV1,
  PaymentRequirements,
  PendingDonation,
  RecentDonation,
  Settlement,
} from "#content/contract/donation.ts";
import { EnrichableField, EnrichmentBody, EnrichmentItem } from "#content/contract/enrichment.ts";
import { FeedEntry, FeedFile, FeedState } from "#content/contract/feed.ts";
import {
  FieldProvenance,
  ImpactMetric,
  NonprofitDetail,
  NonprofitList,
  NonprofitSummary,
  Program,
  Registration,
} from "#content/contract/nonprofit.ts";
import {
  OnboardingAnswer,
  OnboardingBody,
  OnboardingStatus,
  RevokeAnswer,
  RevokeBody,
  WalletChallenge,
} from "#content/contract/onboarding.ts";
import { Problem } from "#content/contract/problem.ts";
import {
  ExplainedSignal,
  Intent,
  Recommendation,
  RecommendAnswer,
  RecommendQuery,
  SearchRedirect,
} from "#content/contract/recommendation.ts";
import {
  ApproveBody,
  RejectBody,
  RevertBody,
  Reverted,
  ReviewDecision,
  ReviewItem,
  ReviewList,
  ReviewQueues,
} from "#content/contract/review.ts";
import {
  PickBody,
  PickChange,
  PickEdit,
  PickItem,
  PickList,
  PickRemoval,
} from "#content/contract/pick.ts";
import { DraftAnswer, DraftBody } from "#content/contract/recommendation-draft.ts";
import { DonationEvidence, Receipt, SignedReceipt } from "#content/contract/receipt.ts";
import { SearchAnswer, SearchEcho } from "#content/contract/search.ts";
import { Stats } from "#content/contract/stats.ts";
import { DailyNumbers, OperatorHealth } from "#content/contract/operations.ts";
import { WebhookDelivery, WebhookLog, WebhookTest } from "#content/contract/webhook.ts";
import type { Json } from "./operation.ts";

const Health = z.object({ status: z.literal("ok") }).meta({ id: "Health" });

/** What the service answers. Each shape's own id is its name in the description. */
const answers: readonly z.ZodType[] = [
  AuditEntry,
  AuditLog,
  Cause,
  CauseList,
  Cluster,
  DonationEvidence,
  DonationHistory,
  DonationRecord,
  DonationStatus,
  EnrichableField,
  EnrichmentAnswer,
  EnrichmentStats,
  EnrichmentSubmission,
  Exemplars,
  ExplainedSignal,
  FeedEntry,
  FeedFile,
  FeedState,
  FieldProvenance,
  Health,
  HelpWanted,
  History,
  ImpactMetric,
  Intent,
  Leaderboard,
  NonprofitDetail,
  NonprofitList,
  NonprofitSummary,
  OnboardingAnswer,
  OnboardingStatus,
  RevokeAnswer,
  WalletChallenge,
  PaymentExtra,
  PaymentOptionV1,
  PaymentRequirements,
  PendingDonation,
  PriorRejection,
  Problem,
  Program,
  RecentDonation,
  Recommendation,
  RecommendAnswer,
  RecommendQuery,
  Registration,
  Reverted,
  ReviewDecision,
  ReviewItem,
  ReviewList,
  ReviewQueues,
  DraftAnswer,
  PickChange,
  PickItem,
  PickList,
  SearchAnswer,
  SearchEcho,
  SearchRedirect,
  SecondOpinion,
  Receipt,
  Settlement,
  SignedReceipt,
  Stats,
  ThinProfile,
  DailyNumbers,
  OperatorHealth,
  WebhookDelivery,
  WebhookLog,
  WebhookTest,
];

/** What is sent to it. */
const bodies: readonly z.ZodType[] = [
  CauseId,
  DraftBody,
  PickBody,
  PickEdit,
  PickRemoval,
  DonateBody,
  EnrichmentBody,
  EnrichmentItem,
  ApproveBody,
  OnboardingBody,
  RejectBody,
  RevertBody,
  RevokeBody,
];

type Schema = { [name: string]: Json };

/** components.schemas, made of the shapes that the service parses and answers with. */
export function componentSchemas(): Record<string, Schema> {
  // A field named in a body and in an answer is one component: it is made by the answers.
  const sent = converted([...bodies, EnrichableField], "input");
  delete sent["EnrichableField"];
  const all = { ...converted(answers, "output"), ...sent };
  return Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function converted(shapes: readonly z.ZodType[], io: "input" | "output"): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const shape of shapes) registry.add(shape, { id: idOf(shape) });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => openObjects(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => {
      if (id.startsWith("__")) throw new Error(`a shape without a place in the list: ${id}`);
      return [id, without(schema, ["$schema", "$id", "id"])];
    }),
  );
}

const idOf = (shape: z.ZodType): string => {
  const id = shape.meta()?.id;
  if (id === undefined) throw new Error("every shape of the description has an id");
  return id;
};

/** The schema of one query parameter, without what stands beside it in the description. */
export function parameterSchema(shape: z.ZodType): Schema {
  const schema = z.toJSONSchema(shape, {
    io: "input",
    metadata: z.registry(),
    override: ({ jsonSchema }) => openObjects(jsonSchema),
  });
  return without(schema, ["$schema"]);
}

const without = (schema: object, names: readonly string[]): Schema =>
  Object.fromEntries(Object.entries(schema as Schema).filter(([name]) => !names.includes(name)));

/**
 * Takes off what says nothing: the greatest integer of the language. Objects stay open, because fields are only ever
 * added and a client must not refuse a new one.
 */
export function openObjects(schema: Record<string, unknown>): void {
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["additionalProperties"] === false) delete schema["additionalProperties"];
}
