import { positional, textOption, wordedCommand } from "../support/command.ts";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import { ApproveBody, type ReviewItem, ReviewKind } from "#content/contract/review.ts";
import { stopWith } from "../support/config.ts";
import {
  change,
  defaultOperator,
  json,
  limitOf,
  neededOption,
  operator,
  pageLimit,
  pageLines,
  print,
  show,
  valueOf,
  withOperatorApi,
} from "../support/operator-api.ts";

export const list = wordedCommand("review list", {
  args: {
    kind: textOption,
    limit: pageLimit,
    after: textOption,
    json,
  },
  run: async ({ args }) => {
    const { kind, after } = args;
    if (kind !== undefined && !ReviewKind.safeParse(kind).success) {
      stopWith(`--kind: give one of ${ReviewKind.options.join(", ")}.`, 2);
    }
    const query = { kind, limit: limitOf(args.limit), after };
    await show(args, operations.listReviews, { query }, ({ reviews, next }) =>
      pageLines(reviews.map(printed), "Nothing waits for a decision.", ["--after", next]),
    );
  },
});

export const queues = wordedCommand("review queues", {
  args: { json },
  run: async ({ args }) => {
    await show(args, operations.countReviews, {}, (counted) =>
      counted.queues.map(({ kind, waiting, left_out }) => {
        const made =
          left_out === 0 ? "" : `  (${left_out} gave up their place in the last 30 days)`;
        return `${kind.padEnd(12)}${waiting}${made}`;
      }),
    );
  },
});

export const showOne = wordedCommand("review show", {
  args: { id: positional, json },
  run: ({ args }) =>
    withOperatorApi(defaultOperator, async (call) => {
      const review = await call(operations.getReview, { params: { id: args.id } });
      if (!review.ok) {
        const query = { subject: args.id, limit: 1 };
        const [last] = valueOf(await call(operations.readAuditLog, { query })).entries;
        const by =
          last === undefined ? "" : ` ${last.operator}: ${last.action}, ${last.happened_at}.`;
        stopWith(`${args.id}: nothing with this id waits for a decision.${by}`);
      }
      print(args, review.value, allLines);
    }),
});

/** What others wrote is shown with its control characters escaped, so that it cannot play with the terminal. */
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

export const approve = wordedCommand("review approve", {
  args: {
    id: positional,
    value: textOption,
    reason: textOption,
    operator,
    json,
  },
  run: async ({ args }) => {
    const body = usable({ value: args.value ?? null, reason: args.reason?.trim() || null });
    if (args._.length > 1) {
      if (body.value != null) stopWith("--value: a value is for one review.", 2);
      return decideMany(args, "approved", body.reason);
    }
    const call = { params: { id: args.id }, body };
    await change(args, args.id, operations.approveReview, call);
  },
});

export const reject = wordedCommand("review reject", {
  args: { id: positional, reason: textOption, operator, json },
  run: async ({ args }) => {
    const reason = neededOption("reason", args.reason, "say why; the agents see it.");
    if (args._.length > 1) return decideMany(args, "rejected", usable({ reason }).reason);
    const call = { params: { id: args.id }, body: usable({ reason }) };
    await change(args, args.id, operations.rejectReview, call);
  },
});

/** Decides all that are named, and says what became of each; exit code 1 when one could not be decided. */
async function decideMany(
  args: { _: string[]; operator: string; json?: boolean | undefined },
  decision: "approved" | "rejected",
  reason: string | null,
): Promise<void> {
  const body = { ids: args._, decision, reason };
  const decided = await show(args, operations.decideReviews, { body }, ({ done, results }) => [
    ...results.map(({ id: name, message }) => `${name}: ${message}`),
    `${done} of ${results.length} ${decision}.`,
  ]);
  if (decided.done < decided.results.length) process.exitCode = 1;
}

/** A decision whose parts are not too long; else the process ends and says which one is. */
function usable(body: { value?: string | null; reason: string | null }) {
  const read = ApproveBody.safeParse(body);
  if (read.success) return body;
  const [issue] = read.error.issues;
  return stopWith(`--${issue?.path.join(".")}: ${issue?.message}.`, 2);
}
