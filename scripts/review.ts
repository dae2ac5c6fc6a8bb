import { defineCommand } from "citty";
import { pick } from "./review/picks.ts";
import {
  countReviews,
  decideReview,
  listReviews,
  revertAgent,
  revokeVerification,
  showHealth,
  showLog,
  showNumbers,
  showReview,
} from "./review/reviews.ts";
import { runCommand } from "./support/command.ts";
import { json, operator } from "./support/operator-api.ts";

const id = {
  type: "positional",
  required: true,
  description: "Id of the review, as list shows it",
} as const;

const list = defineCommand({
  meta: { name: "list", description: "Shows what waits for a decision, the oldest first" },
  args: {
    kind: {
      type: "string",
      description: "Only one kind: onboarding, prose, draft, contested, revert or hold",
    },
    limit: { type: "string", default: "50", description: "How many to show (up to 200)" },
    after: { type: "string", description: "Continue after a page: give what its last line says" },
    json,
  },
  run: ({ args }) => listReviews(args),
});

const queues = defineCommand({
  meta: { name: "queues", description: "Counts what waits, by kind" },
  args: { json },
  run: ({ args }) => countReviews(args),
});

const show = defineCommand({
  meta: { name: "show", description: "Shows one thing that waits, or who decided it" },
  args: { id, json },
  run: ({ args }) => showReview(args),
});

const log = defineCommand({
  meta: { name: "log", description: "Shows what operators did, the newest first" },
  args: {
    operator: { type: "string", description: "Only what this operator did" },
    action: { type: "string", description: "Only this action, for example review.rejected" },
    subject: { type: "string", description: "Only what was done to this, for example prose-12" },
    before: { type: "string", description: "Continue after a page: give what its last line says" },
    limit: { type: "string", default: "50", description: "How many to show (up to 200)" },
    json,
  },
  run: ({ args }) => showLog(args),
});

const health = defineCommand({
  meta: {
    name: "health",
    description: "Shows the health of the directory; exit code 1 when something needs attention",
  },
  args: { json },
  run: ({ args }) => showHealth(args),
});

const numbers = defineCommand({
  meta: { name: "numbers", description: "Shows what happened day by day, in UTC" },
  args: {
    days: { type: "string", default: "7", description: "How many days, including today" },
    json,
  },
  run: ({ args }) => showNumbers(args),
});

const approve = defineCommand({
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
  run: ({ args }) => decideReview("approve", args),
});

const reject = defineCommand({
  meta: { name: "reject", description: "Rejects one; the sender sees the reason" },
  args: { id, reason: { type: "string", description: "Why (required)" }, operator, json },
  run: ({ args }) => decideReview("reject", args),
});

const revert = defineCommand({
  meta: {
    name: "revert",
    description:
      "Undoes everything one agent's agreement made live: empties the fields, takes back credit, keeps the log",
  },
  args: {
    agent: { type: "string", description: "The agent's id (required)" },
    reason: {
      type: "string",
      default: "reverted by an operator",
      description: "Why; agents see it in prior_rejections",
    },
    operator,
    json,
  },
  run: ({ args }) => revertAgent(args),
});

const revoke = defineCommand({
  meta: {
    name: "revoke",
    description:
      "Takes back a verification: the profile becomes an unclaimed listing, without the wallet and contact of the claim",
  },
  args: {
    slug: { type: "string", description: "Slug of the profile (required)" },
    reason: { type: "string", description: "Why, for the audit log (required)" },
    values: {
      type: "boolean",
      description: "Also empty mission, website and city where the organisation set them",
    },
    operator,
    json,
  },
  run: ({ args }) => revokeVerification(args),
});

const command = defineCommand({
  meta: {
    name: "review",
    description:
      "Decides what waits for an operator, through the running service or, without one, in the store. Exit code 1: nothing was decided.",
  },
  subCommands: { queues, list, show, approve, reject, revert, revoke, log, health, numbers, pick },
});

await runCommand(command);
