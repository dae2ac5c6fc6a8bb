import { z } from "zod";
import { enrichableFields } from "./enrichment.ts";
import { Intent, recommendLimitDefault, recommendLimitMax } from "./recommendation.ts";
import { reviewKinds } from "./review.ts";
import { searchLimitDefault, searchLimitMax } from "./search.ts";
import { webhookStatuses } from "./webhook.ts";

const limit = (fallback: number, max: number) =>
  z
    .int()
    .min(1)
    .default(fallback)
    .describe(
      `Items in the answer: ${fallback} unless given, at most ${max}; above that it is capped`,
    )
    .meta({ examples: [fallback] });

const offset = z
  .int()
  .min(0)
  .default(0)
  .describe("Items to leave out from the start: 0 unless given")
  .meta({ examples: [0] });

const cause = z
  .string()
  .max(1_000)
  .optional()
  .describe("Cause id from GET /api/causes; one that nobody knows matches nothing")
  .meta({ examples: ["education"] });

const country = z
  .string()
  .max(1_000)
  .optional()
  .describe("Country by its English name or ISO 3166 code; letter case does not matter")
  .meta({ examples: ["Kenya"] });

/** Query of GET /api/search. All filters combine. */
export const SearchParameters = z.object({
  q: z
    .string()
    .max(1_000)
    .optional()
    .describe(
      'Words looked for in name, tagline, mission and description; "in quotes" they are a phrase',
    )
    .meta({ examples: ["clean water"] }),
  cause,
  country,
  ghd_aligned: z
    .enum(["1", "true"])
    .optional()
    .describe("Only profiles aligned with global health and development")
    .meta({ examples: ["1"] }),
  limit: limit(searchLimitDefault, searchLimitMax),
  offset,
});

/** Query of GET /api/nonprofits. */
export const ListParameters = z.object({ limit: limit(50, 100), offset });

/** Query of GET /api/recommend: at least one of cause, country and q. */
export const RecommendParameters = z.object({
  cause,
  country,
  q: z
    .string()
    .max(1_000)
    .optional()
    .describe("What the donor wants, in their own words")
    .meta({ examples: ["help children read"] }),
  intent: Intent.default("discover")
    .describe("What comes next; it changes the weight of signals")
    .meta({ examples: ["donate"] }),
  limit: limit(recommendLimitDefault, recommendLimitMax),
});

/** Query of GET /api/needs-enrichment. */
export const HelpWantedParameters = z.object({
  limit: limit(10, 50),
  field: z
    .enum(["mission", "description", "website", "contact_email"])
    .optional()
    .describe("Only profiles without this field")
    .meta({ examples: ["website"] }),
  cause,
  pending: z
    .enum(["1", "true"])
    .optional()
    .describe("Only profiles where a value of one agent waits for a second")
    .meta({ examples: ["true"] }),
});

/** Query of GET /api/agents/exemplars. */
export const ExemplarParameters = z.object({
  field: z
    .enum(enrichableFields)
    .optional()
    .describe("Only values of this field")
    .meta({ examples: ["city"] }),
  limit: limit(20, 100),
});

/** Query of GET /api/admin/reviews. */
export const ReviewParameters = z.object({
  kind: z
    .enum(reviewKinds)
    .optional()
    .describe("Only reviews of this kind")
    .meta({ examples: ["prose"] }),
  limit: limit(50, 200),
  after: z
    .string()
    .max(300)
    .optional()
    .describe("`next` of the page before")
    .meta({ examples: ["prose-12"] }),
});

/** Query of GET /api/admin/audit. */
export const AuditParameters = z.object({
  operator: z
    .string()
    .max(64)
    .optional()
    .describe("Only what this operator did")
    .meta({ examples: ["operator"] }),
  action: z
    .string()
    .max(64)
    .optional()
    .describe("Only this action")
    .meta({ examples: ["review.rejected"] }),
  subject: z
    .string()
    .max(300)
    .optional()
    .describe("Only what was done to this")
    .meta({ examples: ["prose-12"] }),
  before: z
    .int()
    .min(1)
    .optional()
    .describe("`next` of the page before")
    .meta({ examples: [41] }),
  limit: limit(50, 200),
});

/** Query of GET /api/admin/picks. */
export const PickParameters = z.object({
  limit: limit(50, 200),
  after: z
    .string()
    .max(200)
    .optional()
    .describe("`next` of the page before")
    .meta({ examples: ["hope-kitchen"] }),
});

/** Query of GET /api/admin/webhooks. */
export const WebhookParameters = z.object({
  status: z
    .enum(webhookStatuses)
    .optional()
    .describe("Only deliveries with this status")
    .meta({ examples: ["failed"] }),
  before: z
    .int()
    .min(1)
    .optional()
    .describe("`next` of the page before")
    .meta({ examples: [41] }),
  limit: limit(50, 200),
});

/** Query of GET /api/admin/numbers. */
export const NumbersParameters = z.object({
  days: z
    .int()
    .min(1)
    .optional()
    .describe("30 unless given, at most 365")
    .meta({ examples: [30] }),
});
