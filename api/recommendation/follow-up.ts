import type { FollowUp } from "#content/recommendation/follow-through-store.ts";
import type { Context } from "#api/context.ts";
import { recentHashes } from "#api/http/client.ts";

type Needed = Pick<Context, "clock" | "secrets" | "recommendationLog">;

/** A profile that was opened, or a donation for which payment requirements were asked (`intent_id`: their memo). */
export type Step =
  | { action: "profile"; slug: string; form: "page" | "markdown" | "json" }
  | { action: "donate"; slug: string; intent_id: string | null };

/**
 * Notes what the client of a request did, for the telemetry of recommendations: stored, with the next batch, when the
 * same user agent asked for a recommendation at most 60 s before. Never throws, never waits. `elsewhere`: for what
 * another process than the one that recommended may be asked; a donation always is. Source: spec, "Events".
 */
export function noteFollowUp(
  { clock, secrets, recommendationLog }: Needed,
  request: Request,
  step: Step,
  { elsewhere = step.action === "donate" }: { elsewhere?: boolean } = {},
): void {
  const atMs = clock().getTime();
  if (!elsewhere && !recommendationLog.isFollowed(atMs)) return;
  const userAgent = request.headers.get("user-agent") ?? "";
  const followUp: FollowUp = {
    slug: step.slug,
    action: step.action,
    form: step.action === "profile" ? step.form : null,
    intent_id: step.action === "donate" ? step.intent_id : null,
    clients: recentHashes(secrets.dailyHashKey, userAgent, atMs),
    atMs,
    withinMs: 0,
  };
  recommendationLog.follow(followUp, { elsewhere });
}

const profilePaths: readonly [
  prefix: string,
  suffix: string,
  form: "page" | "markdown" | "json",
][] = [
  ["/nonprofits/", ".md", "markdown"],
  ["/nonprofits/", "", "page"],
  ["/api/nonprofits/", "", "json"],
];

/** The profile that a path of the bundle shows, as page, markdown or JSON; null for any other path. */
export function profileAt(path: string): Extract<Step, { action: "profile" }> | null {
  for (const [prefix, suffix, form] of profilePaths) {
    if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
    const slug = path.slice(prefix.length, path.length - suffix.length);
    return slug === "" || slug.includes("/")
      ? null
      : { action: "profile", slug: decoded(slug), form };
  }
  return null;
}

function decoded(slug: string): string {
  if (!slug.includes("%")) return slug;
  try {
    return decodeURIComponent(slug);
  } catch {
    return slug;
  }
}
