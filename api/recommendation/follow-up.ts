import type { FollowUp } from "#content/recommendation/follow-through-store.ts";
import { detachedCopy } from "#content/contract/operations/query.ts";
import type { Context } from "#api/context.ts";
import { recentHashes } from "#api/http/client.ts";

/** A profile that was opened, or a donation for which payment requirements were asked. */
export type Step = Pick<FollowUp, "action" | "slug"> &
  Partial<Pick<FollowUp, "form" | "intent_id">>;

/**
 * Notes what the client of a request did, for the telemetry of recommendations: stored, with the next batch, when the
 * same user agent asked for a recommendation at most 60 s before. Never throws, never waits. `elsewhere`: for what
 * another process than the one that recommended may be asked; a donation always is. Source: spec, "Events".
 */
export function noteFollowUp(
  { clock, secrets, recommendationLog }: Pick<Context, "clock" | "secrets" | "recommendationLog">,
  request: Request,
  step: Step,
  { elsewhere = step.action === "donate" }: { elsewhere?: boolean } = {},
): void {
  const atMs = clock().getTime();
  const userAgent = request.headers.get("user-agent") ?? "";
  const clients = recentHashes(secrets.dailyHashKey, userAgent, atMs);
  const noted = { form: null, intent_id: null, ...step, clients, atMs, withinMs: 0 };
  recommendationLog.follow(noted, { elsewhere });
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
    : // The path was cut from an address, whose query may be long.
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
