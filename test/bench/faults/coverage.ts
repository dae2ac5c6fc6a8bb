import ts from "typescript";
import { codeOf } from "./draw.ts";

/** A stretch of code that runs as a whole: a file, a block, the body of an arrow. Its number is its place in the list. */
export type Block = { file: string; start: number; end: number };

/** Where a running product writes the number of each block that it enters, once for each process. */
const recorder = (hits: string) =>
  `globalThis.__hit ??= ((seen, fs) => (n) => { if (seen.has(n)) return; seen.add(n); try { fs?.appendFileSync(${JSON.stringify(hits)}, n + "\\n"); } catch {} })(new Set(), globalThis.process?.getBuiltinModule?.("node:fs"));`;

const hit = (block: number) => `globalThis.__hit?.(${block})`;

/**
 * The text of a file that says which of its blocks run, in whatever process or thread: what tests start themselves counts as
 * what they call. Its blocks are added to `blocks`.
 */
export function instrumented(
  { file, text }: { file: string; text: string },
  blocks: Block[],
  hits: string,
): string {
  const own = (start: number, end: number) => hit(blocks.push({ file, start, end }) - 1);
  const whole = own(0, text.length);
  const inserts: { at: number; words: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (ts.isBlock(node)) {
      inserts.push({ at: node.getStart() + 1, words: `${own(node.getStart(), node.end)};` });
    }
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
      const { body } = node;
      inserts.push({ at: body.getStart(), words: `(${own(body.getStart(), body.end)}, ` });
      inserts.push({ at: body.end, words: ")" });
    }
    ts.forEachChild(node, visit);
  };
  visit(codeOf(file, text));
  const header = { at: file.endsWith(".astro") ? 4 : 0, words: `${recorder(hits)}${whole};` };
  if (!file.endsWith(".astro") || text.startsWith("---\n")) inserts.unshift(header);
  let after = "";
  let from = 0;
  for (const { at, words } of inserts.toSorted((a, b) => a.at - b.at)) {
    after += text.slice(from, at) + words;
    from = at;
  }
  return after + text.slice(from);
}

/** What a test file runs of the product, and how long that takes. */
export type TestCoverage = { test: string; seconds: number; passes: boolean; blocks: number[] };

/**
 * Test files that run the code at a place, those first that find a fault there soonest: quick ones, and ones that run
 * much of the file. Who only loads the file counts where the place is of the module itself.
 */
export function testsThatRun(
  place: { file: string; start: number; end: number },
  blocks: readonly Block[],
  coverage: readonly TestCoverage[],
): TestCoverage[] {
  const ofFile = new Set<number>();
  let inner = -1;
  for (const [number, { file, start, end }] of blocks.entries()) {
    if (file !== place.file) continue;
    ofFile.add(number);
    // Blocks of a file stand in the order in which they begin, so the last that holds the place is the innermost.
    if (start <= place.start && place.end <= end) inner = number;
  }
  const rank = ({ seconds, blocks: run }: TestCoverage) =>
    (seconds + 0.3) / run.filter((number) => ofFile.has(number)).length;
  return coverage
    .filter(({ blocks: run }) => run.includes(inner))
    .toSorted((a, b) => rank(a) - rank(b));
}
