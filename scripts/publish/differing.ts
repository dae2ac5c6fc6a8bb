const shownMax = 20;

/** Says which files a full build changed, for a person. */
export function showDiffering(differing: readonly string[]): void {
  if (differing.length === 0) return console.log("Nothing differed from the bundle before.");
  console.log(`${differing.length} files differed from the bundle before:`);
  for (const path of differing.slice(0, shownMax)) console.log(`  ${path}`);
  if (differing.length > shownMax) console.log("  … (--json lists them all)");
}
