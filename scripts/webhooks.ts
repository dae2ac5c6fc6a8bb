import { defineCommand } from "citty";
import { runCommand } from "./support/command.ts";
import { listed, resent, secretShown, tested } from "./webhooks/commands.ts";

const json = { type: "boolean", description: "Answer as JSON on standard output" } as const;
const operator = {
  type: "string",
  default: "operator",
  description: "Who asks, for the audit log",
} as const;

const list = defineCommand({
  meta: { name: "list", description: "Shows what was sent and what waits, the newest first" },
  args: {
    status: { type: "string", description: "Only one status: pending, delivered or failed" },
    before: { type: "string", description: "Goes on after a page: what its last line says" },
    limit: { type: "string", default: "50", description: "At most so many (up to 200)" },
    json,
  },
  run: ({ args }) => listed(args),
});

const test = defineCommand({
  meta: {
    name: "test",
    description:
      "Sends a message that says nothing to every address, once; exit code 1 when one fails",
  },
  args: { operator, json },
  run: ({ args }) => tested(args),
});

const resend = defineCommand({
  meta: {
    name: "resend",
    description: "Puts a finished delivery on its way once more; a running service sends it",
  },
  args: {
    id: {
      type: "positional",
      required: true,
      description: "Number of the delivery, as list shows it",
    },
    operator,
    json,
  },
  run: ({ args }) => resent(args),
});

const secret = defineCommand({
  meta: { name: "secret", description: "Prints the secret with which receivers check signatures" },
  run: () => secretShown(),
});

const command = defineCommand({
  meta: {
    name: "webhooks",
    description:
      "What this directory tells others, and whether they heard it. Off unless ALMONER_WEBHOOK_URLS is set.",
  },
  subCommands: { list, test, resend, secret },
});

await runCommand(command);
