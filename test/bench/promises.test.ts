import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { renewPage } from "#test/bench/promises/page.ts";
import { readBench, readTests } from "#test/bench/promises/prove.ts";
import { promises } from "#test/bench/promises/table.ts";

test("there are twenty promises, and what proves them exists", () => {
  expect(promises.map(({ number }) => number)).toEqual(
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
  const missing = promises.flatMap(({ number, proofs }) =>
    proofs.flatMap((proof) => {
      const file = "bench" in proof ? `test/bench/${proof.bench}.ts` : proof.test;
      if (!existsSync(file)) return [`${number}: ${file}`];
      const name = "bench" in proof ? "" : (proof.name ?? "");
      return new RegExp(name).test(readFileSync(file, "utf8")) ? [] : [`${number}: ${name}`];
    }),
  );
  expect(missing).toEqual([]);
});

test("the page has a row for each", () => {
  const page = readFileSync("docs/reliability.md", "utf8");
  const rows = page.split("\n").filter((line) => /^\| \d+\. /.test(line));
  expect(rows.map((row) => row.split("|")[1]?.trim())).toEqual(
    promises.map(({ number, claim }) => `${number}. ${claim}`),
  );
});

test("a promise that was tested renews its row and no other", () => {
  const page = renewPage("# Page\n\n| promise | asked |\n| --- | --- |\n\nEnd.\n", [], "");
  const seconds = 1;
  const outcome = { ...promises[2], measured: "all | one", verdict: "kept", seconds } as const;
  const row = { claim: "", asked: "", number: 3, ...outcome };
  const renewed = renewPage(page, [row], "2026-11-22, here");
  const changed = renewed.split("\n").filter((line) => !page.includes(line));
  expect(changed).toEqual([expect.stringContaining("| all \\| one | kept | 2026-11-22, here |")]);
  expect(renewPage(renewed, [], "")).toBe(renewed);
  expect(renewed).toEndWith("|\n\nEnd.\n");
});

describe("a verdict", () => {
  const said = (counts: string) => `measured: 7 kills\n(pass) x\n${counts}\n`;
  test.each([
    [" 3 pass\n 0 fail", 0, "kept"],
    [" 3 pass\n 1 skip\n 0 fail", 0, "kept"],
    [" 3 pass\n 1 fail", 1, "broken"],
    [" 3 pass\n 0 fail", 134, "broken"],
    [" 0 pass\n 2 skip\n 0 fail", 0, "not run"],
  ] as const)("of %j with code %p is %s", (counts, code, verdict) => {
    expect(readTests(said(counts), code)).toMatchObject({ verdict, measured: ["7 kills"] });
  });

  test("of a bench is that of its figures", () => {
    const figures = [
      { what: "slowest: /x", measured: "34 ms", met: true },
      { what: "p99", measured: "9 ms", met: null },
    ];
    const line = (met: boolean) =>
      JSON.stringify({ title: "t", figures: [...figures, { what: "y", measured: "1", met }] });
    expect(readBench(`noise\n${line(true)}`, 0)).toMatchObject({
      verdict: "kept",
      measured: ["slowest 34 ms", "p99 9 ms", "y 1"],
    });
    expect(readBench(line(false), 0).verdict).toBe("broken");
    expect(readBench("", 1).verdict).toBe("broken");
  });
});
