import { defineCommand } from "citty";
import { decided, listed, reverted } from "./review/commands.ts";
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
    json,
  },
  run: ({ args }) => listed(args),
});

const approve = defineCommand({
  meta: { name: "approve", description: "Accepts one: prose goes live, a contested field is set" },
  args: {
    id,
    value: {
      type: "string",
      description: "Edited prose, or the right value of a contested field",
    },
    reason: { type: "string", description: "Why, for the audit log" },
    operator,
    json,
  },
  run: ({ args }) => decided("approved", args),
});

const reject = defineCommand({
  meta: { name: "reject", description: "Rejects one; agents see the reason" },
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

const command = defineCommand({
  meta: {
    name: "review",
    description:
      "Decides what waits for an operator. Works beside a running service; exit code 1: nothing was decided.",
  },
  subCommands: { list, approve, reject, revert },
});

await runCommand(command);
