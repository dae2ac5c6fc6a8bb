import type { Config } from "#api/config.ts";
import { waitingChanges } from "#api/operator/health.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { buildFindings } from "#site/publisher/full-build.ts";
import {
  bundleExists,
  openManifest,
  type PublisherState,
  publisherFolders,
} from "#site/bundle/manifest.ts";
import { releases } from "#site/bundle/release.ts";
import { isPublisherAlive } from "#site/publisher/lock.ts";
import { print } from "../support/command.ts";
import { openExistingStore, stopWith } from "../support/config.ts";
import { heldMessage, showFailed } from "./once.ts";

const releasesShownMax = 10;

/** Prints the state of publishing, as text or JSON. The exit code is 1 while a page cannot be rendered. */
export async function showStatus(config: Config, json: boolean): Promise<void> {
  const status = await statusOf(config, json);
  if (status.failed.length > 0) process.exitCode = 1;
  print({ json }, status, linesOf);
  if (!json) showFailed(status.failed);
}

async function statusOf(config: Config, withAllReleases: boolean) {
  const { bundle } = publisherFolders(config.dataDir);
  if (!bundleExists(bundle))
    stopWith("Nothing was published from this data folder yet. Run `bun run publish`.");
  const manifest = openManifest(bundle, { readonly: true });
  const state = manifest.state();
  const failed = manifest.db
    .query<{ key: string; error: string; failed_at: number }, []>("SELECT * FROM failures")
    .all();
  const newest = releases(manifest, withAllReleases ? state.current_release : releasesShownMax);
  const { files, bytes } = manifest.db
    .query<{ files: number; bytes: number }, []>(
      "SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM files",
    )
    .get() ?? { files: 0, bytes: 0 };
  const findings = buildFindings(manifest);
  manifest.close();
  const resident = isPublisherAlive(state);
  const waiting = await waitingOf(config, state);
  return { ...state, resident, waiting, files, bytes, ...findings, failed, releases: newest };
}

type Status = Awaited<ReturnType<typeof statusOf>>;

const linesOf = ({ differing, repaired, failed, ...state }: Status): string[] => [
  `Release        ${state.current_release}`,
  ...(state.held_at > 0 ? [`Held           ${heldMessage(state.held_at)}`] : []),
  `Waiting        ${describe(state.waiting)}`,
  ...(state.request === "" ? [] : [`Asked for      ${state.request}`]),
  `Failed         ${failed.length === 0 ? "nothing" : `${failed.length} documents`}`,
  `Running        ${state.resident ? `yes, process ${state.pid}` : "no"}`,
  `Files          ${state.files}, ${(state.bytes / 1e6).toFixed(1)} MB`,
  `Changes        published to ${state.fast_sequence}, lists and feed to ${state.slow_sequence}`,
  ...(state.built_at > 0
    ? [
        `Full build     ${instant(state.built_at)}, ${differing.length} files differed${examples(differing)}, ${repaired.length} damaged files were repaired${examples(repaired)}`,
      ]
    : []),
  `Durable        to release ${state.durable_release}`,
  ...state.releases.map(
    ({ id, reason, created_at, changed_files }) =>
      `  ${id}  ${instant(created_at)}  ${changed_files} files  ${reason}`,
  ),
];

const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();

const examplesMax = 3;

function examples(paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const more = paths.length > examplesMax ? ", … (--json lists them all)" : "";
  return `: ${paths.slice(0, examplesMax).join(", ")}${more}`;
}

/** Null when the store cannot be read; the state of the bundle is shown all the same. */
async function waitingOf(config: Config, { fast_sequence, slow_sequence }: PublisherState) {
  try {
    using store = await openExistingStore(config, { migrated: true });
    const { profiles_behind, lists_behind, oldest_waiting_s } = await waitingChanges(
      store,
      { profilesTo: fast_sequence, listsTo: slow_sequence },
      { newest: await newestSequence(store), now: Date.now() },
    );
    return { profiles: profiles_behind, lists: lists_behind, oldest_s: oldest_waiting_s };
  } catch {
    return null;
  }
}

function describe(waiting: Status["waiting"]): string {
  if (waiting === null) return "unknown: the store cannot be read";
  const { profiles, lists, oldest_s } = waiting;
  if (lists === 0) return "nothing";
  return `${profiles} changes for profiles, ${lists} for lists and feed, the oldest for ${oldest_s ?? 0} s`;
}
