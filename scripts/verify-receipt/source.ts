import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fail, ok, type Result } from "#content/contract/result.ts";

export type SourceFailure =
  | { kind: "unreadable"; from: string; why: string }
  | { kind: "unreachable"; from: string; why: string };

const bytesMax = 1_048_576;
const patienceMs = 20_000;

/** The text of a file, of a URL, or of standard input (`-`). */
export async function readSource(from: string): Promise<Result<string, SourceFailure>> {
  try {
    if (from === "-") return ok(await text(process.stdin));
    if (/^https?:\/\//.test(from)) return await fetched(from);
    return ok(await readFile(from, "utf8"));
  } catch (error) {
    return fail({
      kind: "unreadable",
      from,
      why: error instanceof Error ? error.message : "unknown",
    });
  }
}

async function fetched(url: string): Promise<Result<string, SourceFailure>> {
  try {
    const answer = await fetch(url, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(patienceMs),
    });
    if (answer.status === 404)
      return fail({ kind: "unreadable", from: url, why: "there is none (404)" });
    if (!answer.ok) return fail({ kind: "unreachable", from: url, why: `status ${answer.status}` });
    const body = await answer.text();
    if (body.length > bytesMax)
      return fail({ kind: "unreadable", from: url, why: "it is too large" });
    return ok(body);
  } catch (error) {
    return fail({
      kind: "unreachable",
      from: url,
      why: error instanceof Error ? error.message : "unknown",
    });
  }
}
