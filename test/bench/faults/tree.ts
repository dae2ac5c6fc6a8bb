import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { stopWith } from "#scripts/support/config.ts";
import { type Block, instrumented, type TestCoverage } from "./coverage.ts";
import type { Fault } from "./draw.ts";
import { compiledSites } from "#test/support/processes.ts";

const checkout = join(import.meta.dirname, "../../..");
/**
 * So that nothing that tests start outlives them: what carries this in its environment is theirs. The product would refuse
 * a name of its own kind that it does not know.
 */
const marker = `FAULTS_OF=${process.pid}`;

/** A copy of one commit with packages of its own, where faults do no harm, and what tests do there. */
export type Tree = ReturnType<typeof openTree>;

/** How a run of test files ended: `test` is the file that failed first, null where none can be named. */
export type TestRun = { passes: boolean; test: string | null; seconds: number; isTimeout: boolean };

const run = (words: string[], cwd: string): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { cwd });
  if (exitCode !== 0) throw new Error(`${words.join(" ")} failed: ${stderr.toString()}`);
  return stdout.toString();
};

/** The full name of a commit. */
export const commitOf = (name: string): string =>
  run(["git", "rev-parse", `${name}^{commit}`], checkout).trim();

/** Opens the copy of a commit in a folder, or makes it; a fault that an earlier run left there is taken back. */
export function openTree(folder: string, commit: string) {
  const root = join(folder, "tree");
  const temporary = join(folder, "tmp");
  const hits = join(folder, "hits.txt");
  const types = join(folder, "types.json");
  if (!existsSync(root)) makeTree(root, commit);
  if (run(["git", "rev-parse", "HEAD"], root).trim() !== commit) {
    stopWith(
      `${root} holds another commit. Remove it with git worktree, or give another --dir.`,
      2,
    );
  }
  const reset = () => run(["git", "checkout", "--quiet", "--", "."], root);
  reset();
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      endLeftovers();
      process.exit(130);
    });
  }
  const names = run(["git", "ls-files"], root).split("\n");
  const files = names.filter(
    (name) =>
      /^(?:content|api|site|scripts)\/.*\.(?:ts|astro)$/.test(name) &&
      !/\/migrations\/|\.d\.ts$/.test(name),
  );
  const tests = names.filter((name) => name.endsWith(".test.ts"));

  /** Runs test files, one after another in one process, until one fails. */
  async function test(paths: readonly string[], limitS: number): Promise<TestRun> {
    mkdirSync(temporary, { recursive: true });
    // What sites were compiled to bears the digest of their sources: it is as good for the next fault.
    for (const name of readdirSync(temporary)) {
      if (name !== basename(compiledSites)) {
        rmSync(join(temporary, name), { recursive: true, force: true });
      }
    }
    const log = join(folder, "tests.log");
    const startedMs = performance.now();
    const preload = paths.every(isInside) ? ["--preload=./test/support/as-published.ts"] : [];
    const seed = "--preload=./test/support/same-seed.ts";
    const options = ["--bail", "--timeout=240000", seed, ...preload];
    const words = ["nice", "-n", "15", process.execPath, "test", ...options];
    const [name = "", value] = marker.split("=");
    const child = Bun.spawn([...words, ...paths.map((path) => `./${path}`)], {
      cwd: root,
      env: { ...process.env, TMPDIR: temporary, NO_COLOR: "1", [name]: value },
      // Into a file: what tests leave behind would hold a pipe open.
      stdio: ["ignore", Bun.file(log), Bun.file(log)],
    });
    let isTimeout = false;
    const timer = setTimeout(() => {
      isTimeout = true;
      child.kill("SIGKILL");
    }, limitS * 1_000);
    const code = await child.exited;
    clearTimeout(timer);
    endLeftovers();
    const seconds = (performance.now() - startedMs) / 1_000;
    const passes = code === 0 && !isTimeout;
    return {
      passes,
      test: passes ? null : failingTest(readFileSync(log, "utf8")),
      seconds,
      isTimeout,
    };
  }

  return {
    files,
    tests,
    root,
    test,
    reset,
    plant: ({ file, start, end, after }: Fault) => {
      const text = readFileSync(join(root, file), "utf8");
      writeFileSync(join(root, file), text.slice(0, start) + after + text.slice(end));
    },
    /** Whether the type checker takes the tree as it is. Of pages it sees nothing. */
    typeChecks: (): boolean => {
      const tsc = join(root, "node_modules/.bin/tsc");
      const words = ["nice", "-n", "15", process.execPath, tsc, "--noEmit", "--incremental"];
      return Bun.spawnSync([...words, "--tsBuildInfoFile", types], { cwd: root }).exitCode === 0;
    },
    /** The blocks of all files, and with `write` each file says in the tree which of its own run. */
    blocks: ({ write }: { write: boolean }): Block[] => {
      const blocks: Block[] = [];
      for (const file of files) {
        const text = readFileSync(join(root, file), "utf8");
        const after = instrumented({ file, text }, blocks, hits);
        if (write) writeFileSync(join(root, file), after);
      }
      return blocks;
    },
    /** What one test file runs, in a tree whose files say so. */
    cover: async (path: string): Promise<TestCoverage> => {
      writeFileSync(hits, "");
      const { passes, seconds } = await test([path], 900);
      const numbers = readFileSync(hits, "utf8").split("\n").filter(Boolean).map(Number);
      return { test: path, seconds, passes, blocks: [...new Set(numbers)] };
    },
    remove: () => {
      run(["git", "worktree", "remove", "--force", root], checkout);
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}

/** Files that work in the test's own process; the others start commands and services. */
export const isInside = (path: string): boolean => !/^test\/(?:bench|flows|scripts)\//.test(path);

/** Packages are links to this checkout's; what tools cache among them is not, they would write into it. */
function makeTree(root: string, commit: string): void {
  run(["git", "worktree", "add", "--detach", "--quiet", root, commit], checkout);
  for (const packages of ["node_modules", "test/clients/node_modules"]) {
    const from = join(checkout, packages);
    const to = join(root, packages);
    if (!existsSync(from)) continue;
    const isLinked = Bun.spawnSync(["cp", "-al", from, to]).exitCode === 0;
    if (!isLinked) run(["cp", "-a", `${from}/.`, to], checkout);
    for (const cache of [".astro", ".cache", ".vite"]) {
      rmSync(join(to, cache), { recursive: true, force: true });
    }
  }
}

/** The file under whose heading the first failure stands. */
function failingTest(log: string): string | null {
  const failure = log.search(/^\(fail\)|^error:|^# Unhandled error/m);
  const headings = log
    .slice(0, failure === -1 ? undefined : failure)
    .matchAll(/^(test\/\S+\.test\.ts):$/gm);
  return [...headings].at(-1)?.[1] ?? null;
}

function endLeftovers(): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (environment.includes(marker)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself, or belongs to someone else.
    }
  }
}
