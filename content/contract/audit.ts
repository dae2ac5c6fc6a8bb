import { z } from "zod";

/** What an operator did. `detail` may hold third-party text. */
export const AuditEntry = z
  .object({
    id: z.int(),
    operator: z.string(),
    action: z.string().describe("For example review.approved, review.rejected, revert.agent"),
    subject: z.string().describe("What it was done to: the id of a review, of an agent"),
    detail: z.record(z.string(), z.unknown()),
    happened_at: z.string().describe("ISO 8601, UTC"),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** 200 of GET /api/admin/audit: the newest first. */
export const AuditLog = z
  .object({
    count: z.int().min(0).describe("Entries in this page"),
    entries: z.array(AuditEntry),
    next: z.int().nullable().describe("`before` of the next page; null at the end"),
  })
  .meta({ id: "AuditLog" });
export type AuditLog = z.infer<typeof AuditLog>;
