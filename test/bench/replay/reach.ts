import { addresses } from "#content/contract/addresses.ts";
import details from "#content/editorial/problem-details.json";
import statuses from "#content/editorial/problem-statuses.json";
import stores from "#content/editorial/store-refusals.json";
import { operations } from "#content/openapi/document.ts";
import type { Call } from "./corpus.ts";

type Answered = { call: Call; answer: { status: number; body: string } };

const patternOf = (path: string) =>
  new RegExp(
    `^${path
      .replaceAll(/[.+]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll(/\{\w+\}/g, "[^/]+")}$`,
  );

const patterns = Object.entries(addresses).map(([name, { path }]) => ({
  name,
  pattern: patternOf(path),
}));

const pathOf = ({ path }: Call): string => path.split("?")[0] ?? "";

/** Problem codes that the contract names. */
const codes: ReadonlySet<string> = new Set([
  ...Object.entries(details).flatMap(([group, words]) =>
    group === "operator_help" ? [] : Object.keys(words),
  ),
  ...Object.values(statuses.refusals).map(({ code }) => code),
  ...Object.keys(stores),
  ...operations.flatMap(({ problems = {}, body }) => [
    ...Object.keys(problems),
    ...(body?.refusal === undefined ? [] : [body.refusal]),
  ]),
]);

/** How often each address gave each status, and which operations and problem codes no call reached. */
export function reachOf(answers: readonly Answered[]): string[] {
  const counts: Record<string, Record<number, number>> = {};
  const reached = new Set<string>();
  for (const { call, answer } of answers) {
    const path = pathOf(call);
    const name = patterns.find(({ pattern }) => pattern.test(path))?.name ?? "elsewhere";
    const byStatus = (counts[name] ??= {});
    byStatus[answer.status] = (byStatus[answer.status] ?? 0) + 1;
    for (const [, code = ""] of answer.body.matchAll(/problem:([a-z_]+)|"code": ?"([a-z_]+)"/g))
      reached.add(code);
  }
  const distinct = new Set(answers.map(({ call }) => JSON.stringify(call)));
  const allStatuses = new Set(answers.map(({ answer }) => answer.status));
  const isSuccess = ({ answer }: Answered) => answer.status < 300 || answer.status === 402;
  const successes = answers.filter(isSuccess).map(({ call }) => call);
  const without = operations.filter(({ path, method }) => {
    const pattern = patternOf(path);
    return !successes.some(
      (call) => (call.method ?? "GET").toLowerCase() === method && pattern.test(pathOf(call)),
    );
  });
  return [
    ...Object.entries(counts).map(
      ([name, byStatus]) =>
        `${name}: ${Object.entries(byStatus)
          .map(([status, count]) => `${count} × ${status}`)
          .join(", ")}`,
    ),
    `${distinct.size} distinct requests, ${allStatuses.size} statuses, ${reached.size} problem codes`,
    `operations without a success: ${without.map(({ operationId }) => operationId).join(", ") || "none"}`,
    `codes not reached: ${[...codes].filter((code) => !reached.has(code)).join(", ") || "none"}`,
  ];
}
