import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { type Edit, type FaultKind, isProse, rules } from "./rules.ts";

/** One change of one file that makes the product wrong. `key` is the same wherever the file may move to. */
export type Fault = Edit & {
  key: string;
  file: string;
  room: string;
  line: number;
  kind: FaultKind;
  /** The lines that change, as they are and as they become. */
  before: string;
  now: string;
};

/** A capability, as its folder says. */
export const roomOf = (file: string): string => {
  const parts = file.split("/");
  return parts.length === 2 ? `${parts[0]}/.` : parts.slice(0, 2).join("/");
};

/** The code of a file as TypeScript, at the places that it has in the file: of a page, what stands between its dashes. */
export function codeOf(file: string, text: string): ts.SourceFile {
  const end = file.endsWith(".astro") ? text.indexOf("\n---", 3) : text.length;
  // Blanks for the dashes leave each place where it is.
  const code = file.endsWith(".astro") ? `   ${text.slice(3, Math.max(end, 3))}` : text;
  return ts.createSourceFile("code.ts", code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
}

/** Every fault that could be planted in a file. `times` counts those that read the same, in files before it as well. */
export function faultsIn(file: string, text: string, times: Map<string, number>): Fault[] {
  const faults: Fault[] = [];
  const source = codeOf(file, text);
  const add = (kind: FaultKind, edit: Edit) => {
    const from = text.lastIndexOf("\n", edit.start - 1) + 1;
    const to = text.indexOf("\n", edit.end);
    const before = text.slice(from, to).trim();
    const now = (text.slice(from, edit.start) + edit.after + text.slice(edit.end, to)).trim();
    const words = `${kind}\n${before}\n${now}`;
    const time = times.get(words) ?? 0;
    times.set(words, time + 1);
    const line = source.getLineAndCharacterOfPosition(edit.start).line + 1;
    const key = digest(`${words}\n${time}`).slice(0, 16);
    faults.push({ key, file, room: roomOf(file), line, kind, before, now, ...edit });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    for (const [kind, rule] of Object.entries(rules)) {
      for (const edit of rule(node)) add(kind as FaultKind, edit);
    }
    if (ts.isCallExpression(node) && isProse(node)) visit(node.expression);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

/** Faults of all files of a tree, spread over its rooms by their lines: each room that has code has its share. */
export function drawFaults(
  root: string,
  files: readonly string[],
  { seed, count }: { seed: number; count: number },
): Fault[] {
  const rooms = Map.groupBy(files, roomOf);
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const candidates = new Map<string, Fault[]>();
  const lines = new Map<string, number>();
  const times = new Map<string, number>();
  for (const [room, own] of rooms) {
    const faults = own.flatMap((file) => faultsIn(file, texts.get(file) ?? "", times));
    if (faults.length === 0) continue;
    candidates.set(room, faults);
    lines.set(room, sum(own.map((file) => lineCount(texts.get(file)))));
  }
  const shares = sharesOf(lines, count);
  return [...candidates].flatMap(([room, faults]) =>
    drawRoom(faults, shares.get(room) ?? 0, `${seed} ${room}`, seed),
  );
}

const lineCount = (text = ""): number => text.split("\n").length;
const sum = (numbers: readonly number[]): number => numbers.reduce((all, part) => all + part, 0);

/** One for each room as far as they go, and the others by size, largest remainder first. */
export function sharesOf(sizes: ReadonlyMap<string, number>, count: number): Map<string, number> {
  const bySize = [...sizes].toSorted(([, a], [, b]) => b - a);
  const rest = Math.max(0, count - bySize.length);
  const total = sum(bySize.map(([, size]) => size));
  const parts = bySize
    .slice(0, count)
    .map(([room, size]) => ({ room, part: (rest * size) / total }));
  const shares = new Map(parts.map(({ room, part }) => [room, 1 + Math.floor(part)]));
  const missing = count - sum([...shares.values()]);
  const byRemainder = parts.toSorted((a, b) => (b.part % 1) - (a.part % 1));
  for (const { room } of byRemainder.slice(0, missing))
    shares.set(room, (shares.get(room) ?? 0) + 1);
  return shares;
}

/**
 * Kinds take turns, and a file has its second fault when each has its first. A digest of seed and fault says which comes
 * first, so that the same seed finds most of its faults again in a tree that was changed.
 */
function drawRoom(faults: readonly Fault[], count: number, room: string, seed: number): Fault[] {
  const rank = ({ key }: Fault) => digest(`${seed} ${key}`);
  const kinds = [...Map.groupBy(faults, ({ kind }) => kind)]
    .toSorted(([a], [b]) => (digest(room + a) < digest(room + b) ? -1 : 1))
    .map(([, own]) => own.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)));
  const drawn: Fault[] = [];
  for (let turn = 0; drawn.length < count && kinds.some((own) => own.length > 0); turn++) {
    const own = kinds[turn % kinds.length] ?? [];
    const uses = (file: string) => drawn.filter((fault) => fault.file === file).length;
    const [next] = own.toSorted((a, b) => uses(a.file) - uses(b.file));
    if (next === undefined) continue;
    own.splice(own.indexOf(next), 1);
    drawn.push(next);
  }
  return drawn;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
