import { bundleExists, openManifest } from "#site/publisher/manifest.ts";
import { releases } from "#site/publisher/release.ts";
import { stopWith } from "../support/config.ts";

const releasesShownMax = 10;
const residentSeenWithinMs = 10_000;

/** Tells how far publishing is; the exit code is 1 while a page cannot be rendered. */
export function showStatus(bundleFolder: string, json: boolean): void {
  if (!bundleExists(bundleFolder)) stopWith("Nothing was published from this data folder yet.");
  const manifest = openManifest(bundleFolder, { readonly: true });
  const state = manifest.state();
  const failed = manifest.db
    .query<{ key: string; error: string; failed_at: number }, []>("SELECT * FROM failures")
    .all();
  const recent = releases(manifest, releasesShownMax);
  const files = manifest.db
    .query<{ files: number; bytes: number }, []>(
      "SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM files",
    )
    .get();
  const resident = Date.now() - state.seen_at < residentSeenWithinMs;
  if (failed.length > 0) process.exitCode = 1;
  if (json) {
    console.log(JSON.stringify({ ...state, resident, ...files, releases: recent, failed }));
    return;
  }
  console.log(
    `Release        ${state.current_release}${state.held_at > 0 ? ` (held at ${state.held_at})` : ""}`,
  );
  console.log(`Files          ${files?.files ?? 0}, ${((files?.bytes ?? 0) / 1e6).toFixed(1)} MB`);
  console.log(
    `Changes        published to ${state.fast_sequence}, lists and feed to ${state.slow_sequence}`,
  );
  console.log(`Durable        to release ${state.durable_release}`);
  console.log(`Resident       ${resident ? "yes" : "no"}`);
  for (const { id, reason, created_at, changed_files } of recent) {
    console.log(
      `  ${id}  ${new Date(created_at).toISOString()}  ${changed_files} files  ${reason}`,
    );
  }
  for (const { key, error } of failed) console.error(`failed: ${key}: ${error}`);
  manifest.close();
}
