import { readFile } from "node:fs/promises";

/** How much of the lines tests have to run: rules are the heart, and pure. */
const floors: readonly { room: RegExp; percent: number }[] = [
  { room: /^content\/rules\//, percent: 100 },
  // Commands run in processes of their own, where lines are not counted; so does much of what they call.
  { room: /^(content|api|site)\//, percent: 85 },
];

/** Which rooms are tested less than they should be, with the files that lack most. Empty when all is well. */
export async function coverageGaps(lcovPath: string): Promise<string[]> {
  const files = filesOf(await readFile(lcovPath, "utf8").catch(() => ""));
  return floors.flatMap(({ room, percent }) => {
    const own = files.filter(({ path }) => room.test(path));
    const [lines, hit] = [sum(own.map((file) => file.lines)), sum(own.map((file) => file.hit))];
    const reached = lines === 0 ? 0 : (100 * hit) / lines;
    if (reached >= percent) return [];
    const worst = own
      .toSorted((a, b) => b.lines - b.hit - (a.lines - a.hit))
      .slice(0, 8)
      .map(({ path, lines: all, hit: run }) => `${path} ${run}/${all}`);
    return [`${room.source} ${reached.toFixed(1)} % of ${percent} %: ${worst.join(", ")}`];
  });
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

function filesOf(lcov: string): { path: string; lines: number; hit: number }[] {
  return lcov.split("end_of_record").flatMap((record) => {
    const path = /SF:(.+)/.exec(record)?.[1];
    if (path === undefined) return [];
    const number = (name: string) => Number(new RegExp(`${name}:(\\d+)`).exec(record)?.[1] ?? 0);
    return [{ path, lines: number("LF"), hit: number("LH") }];
  });
}
