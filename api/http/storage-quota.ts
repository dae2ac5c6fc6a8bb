import type { Refusal } from "./problem.ts";
import type { Allowance } from "./sliding-window.ts";

/** Whether a limit is one on what may be stored. */
export const isStorageQuota = ({ policy }: Allowance): boolean => policy.startsWith("stored-");

/** The refusal of what there is no room for: nothing that anyone may send without a key grows without bound. */
export function storageQuota({ policy, limit, resetMs }: Allowance): Refusal {
  const whose = policy.endsWith("-network") ? "your network" : "all senders together";
  return {
    status: 429,
    code: "storage_quota",
    detail: `Nothing was stored: ${whose} may store ${(limit / 1e6).toLocaleString("en")} MB in 24 hours, and that is used up. Retry-After says when there is room again.`,
    headers: { "retry-after": String(Math.max(1, Math.ceil(resetMs / 1_000))) },
  };
}
