import { z } from "zod";
import { count, named, textOrNull, texts } from "#content/contract/base/json.ts";

const seconds = z.number().min(0);

/** 200 of GET /api/admin/health: what an operator looks at first. Null means that this process cannot tell. */
export const OperatorHealth = named("OperatorHealth", {
  at: z.string().describe("ISO 8601, UTC"),
  warnings: texts.describe("What needs an operator; empty when all is well"),
  publication: z
    .object({
      release: count.describe("0: nothing was published yet"),
      held: z.boolean().describe("A rollback holds publishing until an operator resumes it"),
      profiles_behind: count.describe("Changes that published profiles do not show yet"),
      lists_behind: count.describe("Changes that lists and the feed do not show yet"),
      oldest_waiting_s: seconds.nullable().describe("How long the oldest of them has waited"),
      failures: count.describe("Pages that could not be rendered"),
    })
    .nullable(),
  chain: z
    .object({
      cluster: z.string(),
      answers: z.boolean().describe("Whether a node answered just now"),
      took_ms: count,
      why: textOrNull.describe("Why it did not"),
      nodes: count.describe("Nodes that can contradict each other; one alone is believed"),
      disagreements: count.describe("How often they did in the last 24 hours"),
    })
    .nullable(),
  sponsor: z
    .object({
      address: z.string(),
      balance_lamports: count.nullable().describe("Null when no node said"),
      spent_lamports: count.describe("Fees in the last 24 hours, those under way included"),
      budget_lamports: count.describe("What may be spent in 24 hours"),
      runway_days: count
        .nullable()
        .describe("How long the balance lasts at the pace of the last week; null when not known"),
      refuses: z
        .enum(["no_sol", "budget"])
        .nullable()
        .describe("Why donors are not offered the sponsor; null: they are"),
    })
    .nullable()
    .describe("The account that pays network fees for donors; null without one"),
  donations: z.object({
    voided: count.describe("Recorded gifts that the chain dropped, in the last 30 days"),
    newest_voided: textOrNull.describe("Path of the newest one's receipt"),
    unsettled: count.describe("Recorded over an hour ago, and not final yet"),
  }),
  registers: z
    .array(
      z.object({
        register: z.string().describe("For example irs-bmf"),
        fetched_at: z.string().describe("ISO 8601, UTC: when it was last tried"),
        problem: textOrNull.describe("Why that failed; null when it did not"),
      }),
    )
    .describe("Registers that were fetched from where they are published"),
  backup: z
    .object({ at: z.string(), age_s: seconds })
    .nullable()
    .describe("The last one, by the file last-backup in the data folder; null when none is known"),
  backup_problem: textOrNull.describe("Why a later one failed; null when none did"),
  refused: z.object({
    hours: z.int(),
    requests: z.record(z.string(), count).describe("Requests refused by a rate limit, by its name"),
  }),
  access: z.object({
    hours: z.int(),
    failed_sign_ins: count.describe("Attempts with a token that no operator has"),
    untrusted_proxy_requests: count.describe(
      "Requests with X-Forwarded-For while ALMONER_TRUSTED_HOPS is 0",
    ),
  }),
  store: z.object({
    bytes: count.nullable(),
    free_bytes: count.nullable().describe("Free space on the disk of the data folder"),
    newest_change: count,
  }),
});
export type OperatorHealth = z.infer<typeof OperatorHealth>;

/** Days in the answer of GET /api/admin/numbers. */
export const daysLimit = { default: 30, max: 365 } as const;

const daily = z.array(z.number().min(0)).describe("One number for each of the days");

/** What happened day by day, in UTC. */
export const DailyNumbers = named("DailyNumbers", {
  days: texts.describe("YYYY-MM-DD, the oldest first; the last is today so far"),
  submissions: daily.describe("Values that agents sent"),
  applied: daily.describe("Of them, those that went live at once"),
  searches: daily,
  mcp_searches: daily,
  recommendations: daily.describe("Calls to recommend"),
  profiles_opened: daily.describe("Profiles opened within 60 s of a recommendation"),
  donate_requests: daily.describe("Payments asked for within 60 s of a recommendation"),
  donations: daily,
  donated_usdc: daily.describe("In USDC"),
  refused: daily.describe("Requests refused by a rate limit"),
});
export type DailyNumbers = z.infer<typeof DailyNumbers>;

/** How far calls of recommend led. Each step counts calls, not clicks. */
const FunnelGroup = z.object({
  by: z.enum(["all", "phase", "intent", "cause"]),
  value: z.string().describe("The phase, intent or cause; empty for all"),
  calls: count,
  answered: count.describe("Calls that were answered with at least one recommendation"),
  profile: count.describe("Calls after which a profile was opened within 60 s"),
  donate: count.describe("Calls after which a payment was asked for within 60 s"),
  donation: count.describe("Calls of which such a payment arrived"),
  given_usdc: z.number().min(0).describe("What arrived, in USDC"),
});
export type FunnelGroup = z.infer<typeof FunnelGroup>;

/** 200 of GET /api/admin/numbers: the numbers of each day, and what recommendations led to over all days. */
export const OperatorNumbers = named("OperatorNumbers", {
  ...DailyNumbers.shape,
  funnel: z.array(FunnelGroup).describe("All calls, then by phase, intent and cause"),
  opened_by_rank: z
    .array(z.object({ rank: z.int().nullable(), opened: count }))
    .describe("Profiles opened, by the place at which they were recommended; null: they were not"),
});
export type OperatorNumbers = z.infer<typeof OperatorNumbers>;

/** An action of an operator. `detail` may hold third-party text. */
export const AuditEntry = named("AuditEntry", {
  id: z.int(),
  operator: z.string(),
  action: z.string().describe("For example review.approved, review.rejected, revert.agent"),
  subject: z.string().describe("What it was done to: the id of a review, of an agent"),
  detail: z.record(z.string(), z.unknown()),
  happened_at: z.string().describe("ISO 8601, UTC"),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** 200 of GET /api/admin/audit: the newest first. */
export const AuditLog = named("AuditLog", {
  count: count.describe("Entries in this page"),
  entries: z.array(AuditEntry),
  next: z.int().nullable().describe("`before` of the next page; null at the end"),
});
export type AuditLog = z.infer<typeof AuditLog>;
