import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import type { ReviewItem } from "#content/contract/review.ts";
import { flag, positional, positionals, print, wordedCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";
import {
  change,
  defaultOperator,
  show,
  valueIn,
  withOperatorApi,
} from "#scripts/support/operator-api.ts";
import { argsOf, inputOf, operated, pageLines } from "./operated.ts";

export const list = operated("review list", operations.listReviews, {
  linesOf: ({ reviews, next }) =>
    pageLines(reviews.map(printed), "Nothing waits for a decision.", ["--after", next]),
});

export const queues = operated("review queues", operations.countReviews, {
  linesOf: (counts) =>
    counts.queues.map(({ kind, waiting, left_out }) => {
      const gaveUp =
        left_out === 0 ? "" : `  (${left_out} gave up their place in the last 30 days)`;
      return `${kind.padEnd(12)}${waiting}${gaveUp}`;
    }),
});

export const showOne = wordedCommand("review show", {
  args: { id: positional, json: flag },
  run: ({ args }) =>
    withOperatorApi(defaultOperator, async (call) => {
      const review = await call(operations.getReview, { params: { id: args.id } });
      if (!review.ok) {
        const query = { subject: args.id, limit: 1 };
        const [last] = valueIn(await call(operations.readAuditLog, { query })).entries;
        const by =
          last === undefined ? "" : ` ${last.operator}: ${last.action}, ${last.happened_at}.`;
        stopWith(`${args.id}: nothing with this id waits for a decision.${by}`);
      }
      print(args, review.value, allLines);
    }),
});

/** Texts of others are printed with control characters escaped, so that they cannot control the terminal. */
const printed = ({ id: name, slug, created_at, summary, detail }: ReviewItem): string =>
  [
    `${name}  ${slug ?? ""}  since ${created_at}`,
    `  ${summary}`,
    ...Object.entries(detail).map(([member, value]) => `  ${member}: ${JSON.stringify(value)}`),
    "",
  ].join("\n");

const allLines = (review: ReviewItem): string[] => [
  printed(review),
  ...review.comparison.map(
    ({ field, before, after }) =>
      `  ${field}: ${JSON.stringify(before)} becomes ${JSON.stringify(after)}`,
  ),
  ...review.checks.map(
    ({ name, outcome, message }) =>
      `  ${outcome}: ${JSON.stringify(name)}: ${JSON.stringify(message)}`,
  ),
  ...(review.flags.length === 0 ? [] : [`  flags: ${JSON.stringify(review.flags)}`]),
];

/** Decides one review, or several with the result of each. Exit code 1 if one could not be decided. */
const deciding = (
  name: "review approve" | "review reject",
  operation: typeof operations.approveReview | typeof operations.rejectReview,
  decision: "approved" | "rejected",
) =>
  wordedCommand(name, {
    args: argsOf(operation, { id: positionals }),
    run: async ({ args }) => {
      const input = inputOf(operation, args);
      const [id = "", ...others] = args._;
      if (others.length === 0) return change(args, id, operation, input);
      const { value, reason } = input.body ?? {};
      if (value !== undefined) stopWith("--value: a value is for one review.", 2);
      const body = { ids: args._, decision, reason };
      const { done, results } = await show(args, operations.decideReviews, { body }, (decided) => [
        ...decided.results.map((result) => `${result.id}: ${result.message}`),
        `${decided.done} of ${decided.results.length} ${decision}.`,
      ]);
      if (done < results.length) process.exitCode = 1;
    },
  });

export const approve = deciding("review approve", operations.approveReview, "approved");
export const reject = deciding("review reject", operations.rejectReview, "rejected");
