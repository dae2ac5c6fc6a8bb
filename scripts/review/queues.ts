import { defineCommand } from "citty";
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
  place,
  show,
  valueOf,
  withOperatorApi,
} from "../support/operator-api.ts";

const id = {
  type: "positional",
  required: true,
  description: "Id of the review, as list shows it",
} as const;

export const list = defineCommand({
  meta: { name: "list", description: "Shows what waits for a decision, the oldest first" },
  args: {
    kind: {
      type: "string",
      description: "Only one kind: onboarding, prose, draft, contested, revert or hold",
    },
    limit: pageLimit,
    after: place,
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

export const queues = defineCommand({
  meta: { name: "queues", description: "Counts what waits, by kind" },
  args: { json },
  run: async ({ args }) => {
    await show(args, operations.countReviews, {}, (counted) =>
      counted.queues.map(({ kind, waiting }) => `${kind.padEnd(12)}${waiting}`),
    );
  },
});

export const showOne = defineCommand({
  meta: { name: "show", description: "Shows one thing that waits, or who decided it" },
  args: { id, json },
  run: ({ args }) =>
    withOperatorApi(defaultOperator, async (call) => {
      const found = await call(operations.getReview, { params: { id: args.id } });
      if (!found.ok) {
        const query = { subject: args.id, limit: 1 };
        const [last] = valueOf(await call(operations.readAuditLog, { query })).entries;
        const by =
          last === undefined ? "" : ` ${last.operator}: ${last.action}, ${last.happened_at}.`;
        stopWith(`${args.id}: nothing with this id waits for a decision.${by}`);
      }
      const lines = args.json === true ? [JSON.stringify(found.value)] : allLines(found.value);
      for (const line of lines) console.log(line);
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

export const approve = defineCommand({
  meta: {
    name: "approve",
    description: "Accepts one: prose goes live, a contested field is set, a draft is recommended",
  },
  args: {
    id,
    value: {
      type: "string",
      description:
        "Edited prose, the right value of a contested field, or a draft's sentences (or both its members as JSON)",
    },
    reason: { type: "string", description: "Why, for the audit log" },
    operator,
    json,
  },
  run: async ({ args }) => {
    const body = usable({ value: args.value ?? null, reason: args.reason?.trim() || null });
    const asked = { params: { id: args.id }, body };
    await change(args, args.id, operations.approveReview, asked, sentence);
  },
});

export const reject = defineCommand({
  meta: { name: "reject", description: "Rejects one; the sender sees the reason" },
  args: { id, reason: { type: "string", description: "Why (required)" }, operator, json },
  run: async ({ args }) => {
    const reason = neededOption("reason", args.reason, "say why; the agents see it.");
    const asked = { params: { id: args.id }, body: usable({ reason }) };
    await change(args, args.id, operations.rejectReview, asked, sentence);
  },
});

const sentence = ({ id: name, message }: { id: string; message: string }) => `${name}: ${message}`;

/** A decision whose parts are not too long; else the process ends and says which one is. */
function usable(body: { value?: string | null; reason: string | null }) {
  const read = ApproveBody.safeParse(body);
  if (read.success) return body;
  const [issue] = read.error.issues;
  return stopWith(`--${issue?.path.join(".")}: ${issue?.message}.`, 2);
}
