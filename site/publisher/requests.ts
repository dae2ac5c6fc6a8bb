import { syncAll } from "#site/bundle/durable.ts";
import { exportRelease } from "#site/bundle/export-release.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import type { ReleaseOutcome } from "#site/bundle/release.ts";
import { rollBack } from "#site/bundle/rollback.ts";
import type { PublisherContext } from "./context.ts";
import { catchUp } from "./full-build.ts";

/** A request of an operator to the running publisher. A command leaves it in the manifest, one at a time. */
export type PublishRequest = { verb: "full" | "resume" } | { verb: "rollback"; release: number };

/** A request as the manifest holds it: "full", "resume" or "rollback 12". */
export const requestText = (request: PublishRequest): string =>
  request.verb === "rollback" ? `rollback ${request.release}` : request.verb;

/** The request that waits; null when there is none. */
export function waitingRequest(manifest: Manifest): PublishRequest | null {
  const [verb, release] = manifest.state().request.split(" ");
  if (verb === "full" || verb === "resume") return { verb };
  return verb === "rollback" ? { verb, release: Number(release) } : null;
}

/** Leaves a request for the running publisher; returns false when another one waits. */
export const leaveRequest = ({ db }: Manifest, request: PublishRequest): boolean =>
  db
    .query(
      `INSERT INTO state (name, value) VALUES ('request', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE state.value = ''`,
    )
    .run(requestText(request)).changes > 0;

/** Removes a request that is done or was not done in time; a different one left since stays. */
export function withdrawRequest({ db }: Manifest, request: PublishRequest): void {
  db.query("UPDATE state SET value = '' WHERE name = 'request' AND value = ?").run(
    requestText(request),
  );
}

/**
 * Carries out the waiting request. Returns it if a full build is still to be made: withdraw it after that build. Null
 * when nothing is left to do.
 */
export async function performRequest(context: PublisherContext): Promise<PublishRequest | null> {
  const { manifest, log } = context;
  const request = waitingRequest(manifest);
  if (request === null) return null;
  log("an operator sent a request", { request: requestText(request) });
  if (await perform(context, request)) return request;
  withdrawRequest(manifest, request);
  return null;
}

async function perform(context: PublisherContext, request: PublishRequest): Promise<boolean> {
  const { manifest, log, inputsDigest } = context;
  const { held_at } = manifest.state();
  if (request.verb === "rollback") {
    const { release } = request;
    if (rollBackTo(context, release) === null) {
      log("that release is not kept; no rollback was made", { release });
    }
    // A power loss must not undo the rollback.
    else await syncAll(context);
    return false;
  }
  if (request.verb === "resume") {
    manifest.setState({ held_at: 0 });
    // After a rollback to a release of older code, every page must be rendered again.
    return manifest.state().inputs_digest !== inputsDigest;
  }
  if (held_at > 0) {
    log("a rollback holds publishing; no full build is made", { held_at });
    return false;
  }
  await catchUp(context);
  return true;
}

/** Requests the scheduled full build, unless a rollback holds publishing or another request waits. */
export function requestScheduledBuild({ manifest, log }: PublisherContext): void {
  const { held_at, request } = manifest.state();
  if (held_at > 0 || !leaveRequest(manifest, { verb: "full" })) {
    log("the scheduled rebuild is skipped", { held_at, request });
  }
}

/** Requests a full build because a reader found a file's content gone, or different from its digest. */
export function requestRepair(context: PublisherContext, path: string): void {
  const { manifest, blobs, log } = context;
  const digest = manifest.find(path)?.digest;
  if (digest === undefined) return;
  log("a published file was gone or damaged: rendering everything again", {
    error: "lost",
    path,
    place: blobs.placeOf(digest),
  });
  // If the content is gone, forget it, so that the job that owns the file (a search index) writes it again.
  if (blobs.find(digest) === null) blobs.remove(digest);
  requestScheduledBuild(context);
}

/** Rolls back to a kept release and exports it to the folder too; null when that release is not kept. */
export function rollBackTo(context: PublisherContext, target: number): ReleaseOutcome | null {
  const outcome = rollBack(context.manifest, target, context.clock());
  if (outcome !== null) exportRelease(context);
  return outcome;
}
