import type { Block, TestCoverage } from "./coverage.ts";
import { testsThatRun } from "./coverage.ts";
import type { Fault } from "./draw.ts";
import { isInside, type Tree } from "./tree.ts";

/** What became of a fault. `by` is the test file that fails on it, `left` counts files that the bound left out. */
export type Outcome = Fault & {
  verdict: "found" | "types" | "survives";
  by: string | null;
  isTimeout: boolean;
  tests: number;
  left: number;
  seconds: number;
};

type Evidence = { blocks: readonly Block[]; coverage: TestCoverage[]; boundS: number };

/** A process of tests is started for one file, then for three and for eight: most faults fall to the first. */
const groupSizes = [1, 3, 8];

/** Plants a fault, runs the tests that reach its place until one fails, and takes it back. */
export async function hunt(tree: Tree, fault: Fault, evidence: Evidence): Promise<Outcome> {
  const startedMs = performance.now();
  const reaching = reachingTests(fault, evidence);
  const groups = groupsWithin(reaching, evidence.boundS);
  const tests = groups.flat().length;
  const outcome = (verdict: Outcome["verdict"], by: string | null, isTimeout = false): Outcome => ({
    ...fault,
    verdict,
    by,
    isTimeout,
    tests,
    left: reaching.length - tests,
    seconds: Math.round((performance.now() - startedMs) / 1_000),
  });
  tree.plant(fault);
  try {
    // The type checker comes after tests of rules, which take less time, and before those that start processes.
    for (const isOwn of [true, false]) {
      for (const group of groups.filter(([file]) => isInside(file?.test ?? "") === isOwn)) {
        const failure = await firstFailure(tree, fault, group);
        if (failure !== null) return outcome("found", failure.test, failure.isTimeout);
      }
      if (isOwn && !tree.typeChecks()) return outcome("types", null);
    }
    return outcome("survives", null);
  } finally {
    tree.reset();
  }
}

/** Tests whose processes cannot be watched, those in a browser, may reach what runs there. */
function reachingTests(fault: Fault, { blocks, coverage }: Evidence): TestCoverage[] {
  const usable = coverage.filter(({ passes }) => passes);
  const reaching = testsThatRun(fault, blocks, usable);
  if (fault.room !== "site/browser") return reaching;
  const browsers = usable.filter(({ test }) => /browser|chromium|look\.test|desk/.test(test));
  return [...reaching, ...browsers.filter((file) => !reaching.includes(file))];
}

/** Tests in groups, those within their own process first, as far as their time stays within the bound; each kind has half. */
function groupsWithin(reaching: readonly TestCoverage[], boundS: number): TestCoverage[][] {
  const groups: TestCoverage[][] = [];
  for (const isOwn of [true, false]) {
    let restS = boundS / 2;
    const chosen = reaching.filter(({ test, seconds }) => {
      if (isInside(test) !== isOwn || seconds > restS) return false;
      restS -= seconds;
      return true;
    });
    for (let at = 0, turn = 0; at < chosen.length; turn++) {
      const size = isOwn ? (groupSizes[turn] ?? 12) : 1;
      groups.push(chosen.slice(at, at + size));
      at += size;
    }
  }
  return groups;
}

const secondsOf = (group: readonly TestCoverage[]): number =>
  group.reduce((sum, { seconds }) => sum + seconds, 0);

/** The first file of a group that fails with the fault, alone as well, and not without it; null when all pass. */
async function firstFailure(tree: Tree, fault: Fault, group: TestCoverage[]) {
  let rest = group;
  while (rest.length > 0) {
    const paths = rest.map(({ test }) => test);
    const limitS = 60 + 10 * secondsOf(rest);
    const { passes, test, isTimeout } = await tree.test(paths, limitS);
    if (passes) return null;
    const suspect = rest.find((file) => file.test === test) ?? rest[0];
    if (suspect === undefined) return null;
    if (await isToBlame(tree, fault, suspect)) return { test: suspect.test, isTimeout };
    // It failed by itself: on a busy machine, or beside the others.
    rest = rest.filter((file) => file !== suspect);
  }
  return null;
}

async function isToBlame(tree: Tree, fault: Fault, { test, seconds }: TestCoverage) {
  const limitS = 60 + 10 * seconds;
  const again = await tree.test([test], limitS);
  if (again.passes) return false;
  tree.reset();
  const without = await tree.test([test], limitS);
  tree.plant(fault);
  return without.passes;
}
