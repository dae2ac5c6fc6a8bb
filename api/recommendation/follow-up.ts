import {
  type FollowUp,
  followThroughWindowMs,
} from "#content/recommendation/follow-through-store.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { detachedCopy } from "#content/contract/operations/query.ts";
import type { Context } from "#api/context.ts";
import { keyedHash } from "#api/http/client.ts";

/** An opened profile, or a request for the payment requirements of a donation. */
export type Step = Pick<FollowUp, "action" | "slug"> &
  Partial<Pick<FollowUp, "form" | "intent_id">>;

/** The hash of a user agent ("" for a request without one). It changes daily, so that no one can link two days. */
export const userAgentHash = (key: Uint8Array, userAgent: string, atMs: number): string =>
  keyedHash(key, `${isoDay(atMs)}\n${userAgent}`);

/** The hashes under which a user agent may have asked for a recommendation in the last 60 s: two just after midnight. */
export function recentHashes(
  key: Uint8Array,
  userAgent: string,
  atMs: number,
): readonly [string] | readonly [string, string] {
  const today = userAgentHash(key, userAgent, atMs);
  const before = userAgentHash(key, userAgent, atMs - followThroughWindowMs);
  return before === today ? [today] : [today, before];
}

/**
 * Notes what a client did, for the telemetry of recommendations. It is stored with the next batch if the same user agent
 * asked for a recommendation in the last 60 s. Never throws or waits. `elsewhere`: another process may have recommended
 * it; always so for a donation (docs/recommendations.md).
 */
export function noteFollowUp(
  { clock, secrets, recommendationLog }: Pick<Context, "clock" | "secrets" | "recommendationLog">,
  request: Request,
  step: Step,
  { elsewhere = step.action === "donate" }: { elsewhere?: boolean } = {},
): void {
  const atMs = clock().getTime();
  const userAgent = request.headers.get("user-agent") ?? "";
  const clients = recentHashes(secrets.clientHashKey, userAgent, atMs);
  const followUp = { form: null, intent_id: null, ...step, clients, atMs, withinMs: 0 };
  recommendationLog.follow(followUp, { elsewhere });
}

const profilePaths = [
  { prefix: "/nonprofits/", suffix: ".md", form: "markdown" },
  { prefix: "/nonprofits/", suffix: "", form: "page" },
  { prefix: "/api/nonprofits/", suffix: "", form: "json" },
] as const;

/** The profile that a path of the bundle shows, as page, markdown or JSON; null for any other path. */
export function profileAt(path: string): Pick<FollowUp, "action" | "slug" | "form"> | null {
  const profilePath = profilePaths.find(
    ({ prefix, suffix }) => path.startsWith(prefix) && path.endsWith(suffix),
  );
  if (profilePath === undefined) return null;
  const slug = path.slice(profilePath.prefix.length, path.length - profilePath.suffix.length);
  return slug === "" || slug.includes("/")
    ? null
    : // A slice would keep the whole address, whose query may be long, in memory.
      { action: "profile", slug: detachedCopy(decoded(slug)), form: profilePath.form };
}

function decoded(slug: string): string {
  if (!slug.includes("%")) return slug;
  try {
    return decodeURIComponent(slug);
  } catch {
    return slug;
  }
}
