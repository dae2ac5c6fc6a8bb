import { defineCommand } from "citty";
import { webhookSecretOf } from "#api/secrets.ts";
import {
  WebhookDelivery,
  WebhookLog,
  webhookStatuses,
  WebhookTest,
} from "#content/contract/webhook.ts";
import { runCommand } from "./support/command.ts";
import { configOrExit, stopWith } from "./support/config.ts";
import {
  defaultOperator,
  json,
  limitOf,
  type Output,
  pageNumberOf,
  valueOf,
  withOperatorApi,
} from "./support/operator-api.ts";

const operator = {
  type: "string",
  default: "operator",
  description: "Who asks, for the audit log",
} as const;

const list = defineCommand({
  meta: { name: "list", description: "Shows what was sent and what waits, the newest first" },
  args: {
    status: { type: "string", description: "Only one status: pending, delivered or failed" },
    before: { type: "string", description: "Continue after a page: give what its last line says" },
    limit: { type: "string", default: "50", description: "How many to show (up to 200)" },
    json,
  },
  run: ({ args }) => listDeliveries(args),
});

const testCommand = defineCommand({
  meta: {
    name: "test",
    description: "Sends a test message to every address, once; exit code 1 when one fails",
  },
  args: { operator, json },
  run: ({ args }) => testAddresses(args),
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
  run: ({ args }) => resendDelivery(args),
});

const secretCommand = defineCommand({
  meta: { name: "secret", description: "Prints the secret with which receivers check signatures" },
  run: () => showSecret(),
});

const command = defineCommand({
  meta: {
    name: "webhooks",
    description: "Shows and sends webhooks. Off unless ALMONER_WEBHOOK_URLS is set.",
  },
  subCommands: { list, test: testCommand, resend, secret: secretCommand },
});

async function listDeliveries(
  args: { status?: string | undefined; before?: string | undefined; limit: string } & Output,
) {
  const { status } = args;
  if (status !== undefined && !webhookStatuses.some((one) => one === status)) {
    stopWith(`--status: give one of ${webhookStatuses.join(", ")}.`, 2);
  }
  const query = { status, limit: limitOf(args.limit), before: pageNumberOf(args.before) };
  await withOperatorApi(defaultOperator, async ({ call, config }) => {
    const log = valueOf(await call({ path: "/api/admin/webhooks", query }, WebhookLog));
    if (args.json === true) {
      console.log(JSON.stringify(log));
      return;
    }
    if (config.webhookUrls.length === 0) {
      console.log("Webhooks are off: ALMONER_WEBHOOK_URLS lists no address.");
    }
    for (const one of log.deliveries) console.log(printed(one));
    if (log.count === 0) console.log("The log of deliveries is empty.");
    if (log.next !== null) console.log(`More: --before ${log.next}`);
  });
}

async function testAddresses(args: { operator: string } & Output) {
  await withOperatorApi(args.operator, async ({ call }) => {
    const path = "/api/admin/webhooks/test";
    const test = valueOf(await call({ method: "POST", path }, WebhookTest));
    if (args.json === true) console.log(JSON.stringify(test));
    else for (const one of test.deliveries) console.log(printed(one));
    if (test.deliveries.some(({ status }) => status !== "delivered")) process.exitCode = 1;
  });
}

async function resendDelivery(args: { id: string; operator: string } & Output) {
  if (!/^\d{1,15}$/.test(args.id)) stopWith("Give the number of a delivery, as list shows it.", 2);
  await withOperatorApi(args.operator, async ({ call }) => {
    const path = `/api/admin/webhooks/${args.id}/resend`;
    const queued = await call({ method: "POST", path }, WebhookDelivery);
    if (!queued.ok) stopWith(`${args.id}: ${queued.failure.message}`);
    console.log(args.json === true ? JSON.stringify(queued.value) : printed(queued.value));
  });
}

function showSecret() {
  const secret = webhookSecretOf(configOrExit());
  if (secret === null) stopWith("Webhooks are off: ALMONER_WEBHOOK_URLS lists no address.");
  console.log(secret);
}

/** What a receiver answered is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = (one: WebhookDelivery): string => {
  const { id, created_at, type, status, attempts, url, answered_status, answer, due_at } = one;
  const said = answered_status === null ? "" : ` ${answered_status}`;
  const next = due_at === null ? "" : `, next ${due_at}`;
  return `${id}  ${created_at}  ${type}  ${status} after ${attempts}${next}  ${JSON.stringify(url)}${said} ${JSON.stringify(answer ?? "")}`;
};

await runCommand(command);
