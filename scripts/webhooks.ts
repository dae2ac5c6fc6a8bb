import { defineCommand } from "citty";
import { webhookSecretOf } from "#api/secrets.ts";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import {
  type WebhookDelivery,
  webhookStatuses,
  type WebhookTest,
} from "#content/contract/webhook.ts";
import { runCommand } from "./support/command.ts";
import { configOrExit, stopWith } from "./support/config.ts";
import {
  json,
  limitOf,
  operator as decider,
  pageLimit,
  pageLines,
  pageNumberOf,
  place,
  print,
  show,
  withOperatorApi,
} from "./support/operator-api.ts";

const operator = { ...decider, description: "Who asks, for the audit log" } as const;

const list = defineCommand({
  meta: { name: "list", description: "Shows what was sent and what waits, the newest first" },
  args: {
    status: { type: "string", description: "Only one status: pending, delivered or failed" },
    before: place,
    limit: pageLimit,
    json,
  },
  run: async ({ args }) => {
    const { status } = args;
    if (status !== undefined && !webhookStatuses.some((one) => one === status)) {
      stopWith(`--status: give one of ${webhookStatuses.join(", ")}.`, 2);
    }
    const query = { status, limit: limitOf(args.limit), before: pageNumberOf(args.before) };
    await show(args, operations.readWebhookLog, { query }, ({ urls, deliveries, next }) => [
      ...(urls.length === 0 ? [off] : []),
      ...pageLines(deliveries.map(printed), "The log of deliveries is empty.", ["--before", next]),
    ]);
  },
});

const off = "Webhooks are off: ALMONER_WEBHOOK_URLS lists no address.";

const testCommand = defineCommand({
  meta: {
    name: "test",
    description: "Sends a test message to every address, once; exit code 1 when one fails",
  },
  args: { operator, json },
  run: async ({ args }) => {
    const linesOf = (test: WebhookTest): string[] => test.deliveries.map(printed);
    const { deliveries } = await show(args, operations.testWebhooks, {}, linesOf);
    if (deliveries.some(({ status }) => status !== "delivered")) process.exitCode = 1;
  },
});

const resend = defineCommand({
  meta: {
    name: "resend",
    description: "Queues a finished delivery again; a running service sends it",
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
  run: async ({ args }) => {
    const { id } = args;
    if (!/^\d{1,15}$/.test(id)) stopWith("Give the number of a delivery, as list shows it.", 2);
    await withOperatorApi(args.operator, async (call) => {
      const queued = await call(operations.resendWebhook, { params: { delivery: id } });
      if (!queued.ok) stopWith(`${id}: ${queued.failure.message}`);
      print(args, queued.value, (one) => [printed(one)]);
    });
  },
});

const secretCommand = defineCommand({
  meta: { name: "secret", description: "Prints the secret with which receivers check signatures" },
  run: () => console.log(webhookSecretOf(configOrExit()) ?? stopWith(off)),
});

const command = defineCommand({
  meta: {
    name: "webhooks",
    description: "Shows and sends webhooks. Off unless ALMONER_WEBHOOK_URLS is set.",
  },
  subCommands: { list, test: testCommand, resend, secret: secretCommand },
});

/** What a receiver answered is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = (one: WebhookDelivery): string => {
  const { id, created_at, type, status, attempts, url, answered_status, answer, due_at } = one;
  const said = answered_status === null ? "" : ` ${answered_status}`;
  const next = due_at === null ? "" : `, next ${due_at}`;
  return `${id}  ${created_at}  ${type}  ${status} after ${attempts}${next}  ${JSON.stringify(url)}${said} ${JSON.stringify(answer ?? "")}`;
};

await runCommand(command);
