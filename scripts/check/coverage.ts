import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** How much of the lines tests have to run: the pure files of the ground floor are the heart. */
const floors: readonly { name: string; holds: (path: string) => boolean; percent: number }[] = [
  { name: "pure files of content", holds: isPure, percent: 100 },
  // Commands run in processes of their own, where lines are not counted; so does much of what they call.
  {
    name: "content, api, site",
    holds: (path) => /^(content|api|site)\//.test(path),
    percent: 85,
  },
];

/** A file of a room of content that never sees the store. */
function isPure(path: string): boolean {
  if (!/^content\/(?!editorial|runtime|contract|store|openapi)/.test(path)) return false;
  return !/"(?:#content\/store\/|bun:sqlite|node:fs)/.test(readFileSync(path, "utf8"));
}

/** Which rooms are tested less than they should be, with the files that lack most. Empty when all is well. */
export async function coverageGaps(lcovPaths: readonly string[]): Promise<string[]> {
  const reports = await Promise.all(
    lcovPaths.map((path) => readFile(path, "utf8").catch(() => "")),
  );
  const files = filesOf(reports);
  return floors.flatMap(({ name, holds, percent }) => {
    const own = files.filter(({ path }) => holds(path));
    const [lines, hit] = [sum(own.map((file) => file.lines)), sum(own.map((file) => file.hit))];
    const reached = lines === 0 ? 0 : (100 * hit) / lines;
    if (reached >= percent) return [];
    const worst = own
      .toSorted((a, b) => b.lines - b.hit - (a.lines - a.hit))
      .slice(0, 8)
      .map(({ path, lines: all, hit: run }) => `${path} ${run}/${all}`);
    return [`${name} ${reached.toFixed(1)} % of ${percent} %: ${worst.join(", ")}`];
  });
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

/** A line counts as run when any process ran it. */
function filesOf(reports: readonly string[]): { path: string; lines: number; hit: number }[] {
  const files = new Map<string, Map<string, boolean>>();
  for (const record of reports.flatMap((lcov) => lcov.split("end_of_record"))) {
    const path = /SF:(.+)/.exec(record)?.[1];
    if (path === undefined) continue;
    const lines = files.get(path) ?? new Map<string, boolean>();
    for (const [, line = "", runs] of record.matchAll(/^DA:(\d+),(\d+)/gm)) {
      lines.set(line, lines.get(line) === true || Number(runs) > 0);
    }
    files.set(path, lines);
  }
  return [...files].map(([path, lines]) => ({
    path,
    lines: lines.size,
    hit: [...lines.values()].filter(Boolean).length,
  }));
}
