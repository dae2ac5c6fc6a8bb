import { z } from "zod";
import type { KeptPromise, Proof } from "./table.ts";

/** "not run": what a proof needs, such as a browser, is not there. */
export type Verdict = "kept" | "broken" | "not run";
export type Outcome = Pick<KeptPromise, "number" | "claim" | "asked"> & {
  measured: string;
  verdict: Verdict;
  seconds: number;
};

type Proven = { verdict: Verdict; measured: string[]; passed: number };

/** Runs all that proves a promise, one after another. `onTrouble` gets the output of what was not kept. */
export async function prove(
  { number, claim, asked, proofs }: KeptPromise,
  { quick, onTrouble }: { quick: boolean; onTrouble: (said: string) => void },
): Promise<Outcome> {
  const startedMs = performance.now();
  const proven: Proven[] = [];
  for (const proof of proofs) {
    const { said, code } = await run(wordsOf(proof, quick), quick);
    const one = "bench" in proof ? readBench(said, code) : readTests(said, code);
    if (one.verdict !== "kept") onTrouble(said);
    proven.push(one);
  }
  const verdicts = proven.map(({ verdict }) => verdict);
  const measured = proven.flatMap((one) => one.measured).join("; ");
  const passed = proven.reduce((sum, one) => sum + one.passed, 0);
  return {
    number,
    claim,
    asked,
    measured: measured === "" ? `${passed} ${passed === 1 ? "test" : "tests"} passed` : measured,
    verdict: (["broken", "not run"] as const).find((one) => verdicts.includes(one)) ?? "kept",
    seconds: Math.round((performance.now() - startedMs) / 1_000),
  };
}

function wordsOf(proof: Proof, quick: boolean): string[] {
  if ("bench" in proof) {
    return [`test/bench/${proof.bench}.ts`, "--json", ...(quick ? proof.quick : proof.args)];
  }
  const named = proof.name === undefined ? [] : ["-t", proof.name];
  return ["test", "--timeout=240000", ...named, `./${proof.test}`];
}

const limitMs = 3_600_000;
const tellEveryMs = 30_000;

/** Runs a proof, at most an hour, and tells twice a minute what it said last: full counts take their time. */
async function run(words: readonly string[], quick: boolean) {
  const startedMs = performance.now();
  const child = Bun.spawn([process.execPath, ...words], {
    env: {
      ...process.env,
      ALMONER_FULL_TESTS: quick ? "0" : "1",
      ALMONER_MEASURED: "1",
      NO_COLOR: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMs,
  });
  let said = "";
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    let own = "";
    for await (const piece of stream) {
      const text = decoder.decode(piece, { stream: true });
      own += text;
      said = text.trim().split("\n").at(-1) || said;
    }
    return own;
  };
  const telling = setInterval(() => {
    const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
    console.error(`  ${minutes} min  ${words.join(" ")}  ${said}`);
  }, tellEveryMs);
  const [out, err, code] = await Promise.all([
    read(child.stdout),
    read(child.stderr),
    child.exited,
  ]);
  clearInterval(telling);
  const late = child.signalCode === null ? "" : `measured: ended by ${child.signalCode}\n`;
  return { said: `${out}\n${late}${err}`, code };
}

/** Reads what `bun test` printed. A run in which nothing passed proves nothing. */
export function readTests(said: string, code: number): Proven {
  const count = (what: string) =>
    Number(new RegExp(`^ *(\\d+) ${what}$`, "m").exec(said)?.[1] ?? 0);
  const passed = count("pass");
  const failed = count("fail") > 0 || (code !== 0 && passed > 0);
  const measured = [...said.matchAll(/^measured: (.+)$/gm)].map(([, what = ""]) => what);
  return { verdict: failed ? "broken" : passed > 0 ? "kept" : "not run", measured, passed };
}

const Report = z.object({
  figures: z.array(
    z.object({ what: z.string(), measured: z.string(), met: z.boolean().nullable() }),
  ),
});

/** Reads the one line of JSON of a bench, which ends with another code than 0 when something failed. */
export function readBench(said: string, code: number): Proven {
  const line = said.split("\n").find((one) => one.startsWith('{"title"'));
  if (code !== 0 || line === undefined) return { verdict: "broken", measured: [], passed: 0 };
  const { figures } = Report.parse(JSON.parse(line));
  return {
    verdict: figures.some(({ met }) => met === false) ? "broken" : "kept",
    measured: figures.map(({ what, measured }) => `${what.replace(/:.*/, "")} ${measured}`),
    passed: 0,
  };
}
