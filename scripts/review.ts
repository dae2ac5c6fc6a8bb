import { defineCommand } from "citty";
import { counted, decided, listed, reverted, shown } from "./review/commands.ts";
import { healthShown, numbersShown } from "./review/health.ts";
import { logged } from "./review/log.ts";
import { pick } from "./review/pick-command.ts";
import { revoked } from "./review/revoke.ts";
import { runCommand } from "./support/command.ts";

const json = { type: "boolean", description: "Answer as JSON on standard output" } as const;
const operator = {
  type: "string",
  default: "operator",
  description: "Who decides, for the audit log",
} as const;
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
    limit: { type: "string", default: "50", description: "At most so many (up to 200)" },
    after: { type: "string", description: "Goes on after a page: what its last line says" },
    json,
  },
  run: ({ args }) => listed(args),
});

const queues = defineCommand({
  meta: { name: "queues", description: "Counts what waits, by kind" },
  args: { json },
  run: ({ args }) => counted(args),
});

const show = defineCommand({
  meta: { name: "show", description: "Shows one thing that waits, or who decided it" },
  args: { id, json },
  run: ({ args }) => shown(args),
});

const log = defineCommand({
  meta: { name: "log", description: "Shows what operators did, the newest first" },
  args: {
    operator: { type: "string", description: "Only what this operator did" },
    action: { type: "string", description: "Only this action, for example review.rejected" },
    subject: { type: "string", description: "Only what was done to this, for example prose-12" },
    before: { type: "string", description: "Goes on after a page: what its last line says" },
    limit: { type: "string", default: "50", description: "At most so many (up to 200)" },
    json,
  },
  run: ({ args }) => logged(args),
});

const health = defineCommand({
  meta: {
    name: "health",
    description: "Shows how the directory is; exit code 1 when it needs you",
  },
  args: { json },
  run: ({ args }) => healthShown(args),
});

const numbers = defineCommand({
  meta: { name: "numbers", description: "Shows what happened day by day, in UTC" },
  args: {
    days: { type: "string", default: "7", description: "So many days, today included" },
    json,
  },
  run: ({ args }) => numbersShown(args),
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
  run: ({ args }) => decided("approved", args),
});

const reject = defineCommand({
  meta: { name: "reject", description: "Rejects one; whoever sent it sees the reason" },
  args: { id, reason: { type: "string", description: "Why (required)" }, operator, json },
  run: ({ args }) => decided("rejected", args),
});

const revert = defineCommand({
  meta: {
    name: "revert",
    description:
      "Undoes all that one agent's agreement made live: empties the fields, takes back credit, keeps the log",
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
  run: ({ args }) => reverted(args),
});

const revoke = defineCommand({
  meta: {
    name: "revoke",
    description:
      "Takes back a verification: the profile is a listing again, without the wallet and contact of the claim",
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
  run: ({ args }) => revoked(args),
});

const command = defineCommand({
  meta: {
    name: "review",
    description:
      "Decides what waits for an operator. Works beside a running service; exit code 1: nothing was decided.",
  },
  subCommands: { queues, list, show, approve, reject, revert, revoke, log, health, numbers, pick },
});

await runCommand(command);
