import type { SyncFailure, SyncReport } from "./sync.ts";

const pathsShownMax = 5;

/** The folder, or the one beside it, could not be written. */
export type DiskFailure = { kind: "disk"; reason: string };

/** What a finished run did, in a line or two. */
export function describeReport(report: SyncReport, seconds: number): string {
  const { changed, removed, files, fetched_bytes, sequence, behind, nonprofits } = report;
  if (changed + removed === 0 && behind.length === 0) {
    return `Nothing new: ${files.toLocaleString("en")} files, feed ${sequence}.`;
  }
  const counts = Object.entries(nonprofits ?? {}).map(([kind, count]) => `${count} ${kind}`);
  return [
    `${changed.toLocaleString("en")} files put in place, ${removed.toLocaleString("en")} removed, ` +
      `${(fetched_bytes / 1e6).toFixed(1)} MB fetched in ${seconds} s; now ${files.toLocaleString("en")} files, feed ${sequence}.`,
    ...(counts.length > 0 ? [`Nonprofits: ${counts.join(", ")}.`] : []),
    ...(behind.length > 0
      ? [`Changing too fast to be fetched, taken next time: ${listed(behind)}`]
      : []),
    `Signed by key ${report.kid}.`,
  ].join("\n");
}

/** Why a run left the folder as it was. */
export function describeFailure(failure: SyncFailure | DiskFailure): string {
  switch (failure.kind) {
    case "disk":
      return `The folder could not be written: ${failure.reason}. The next run goes on from here.`;
    case "not_found":
      return `The origin has no ${failure.path}: is this the address of a published directory?`;
    case "unreachable":
      return `${failure.path} could not be fetched: ${failure.reason}. The next run goes on from here.`;
    case "differs":
    case "tampered": {
      const paths = failure.kind === "differs" ? [failure.path] : failure.paths;
      return `REFUSED: the origin's files differ from its signed list, and it stays so: ${listed(paths)}\nNothing was replaced.`;
    }
    case "restless":
      return "The origin changes faster than its list of files can be fetched. Nothing was replaced; what is fetched stays for the next run.";
    case "no_directory":
      return `This is not a published directory: ${failure.reason}.`;
    case "not_signed_by":
      return (
        `REFUSED: the list of files is not signed by the key of this mirror (${failure.kid}); it names ${failure.signedBy}.\n` +
        "Nothing was replaced. If the directory has a new key, name it with --key once you have made sure of it."
      );
    case "not_a_mirror":
    default:
      return "REFUSED: the folder is not empty and no mirror was kept in it. Name an empty folder, or remove what is there.";
  }
}

const listed = (paths: readonly string[]): string =>
  paths.length <= pathsShownMax
    ? paths.join(", ")
    : `${paths.slice(0, pathsShownMax).join(", ")} and ${paths.length - pathsShownMax} more`;
