import { webhookSecretOf } from "#api/secrets.ts";
import {
  deliveriesMax,
  readDeliveries,
  resendDelivery,
  testWebhooks,
} from "#api/webhooks/deliveries.ts";
import { webhookRefusals } from "#api/operator/routes.ts";
import { refusalOf } from "#api/http/problem.ts";
import { testPost } from "#api/webhooks/post.ts";
import { systemClock } from "#content/contract/time.ts";
import { type WebhookDelivery, webhookStatuses } from "#content/contract/webhook.ts";
import { withStore } from "../review/commands.ts";
import { configOrExit, stopWith } from "../support/config.ts";

type Output = { json?: boolean | undefined };

/** `bun run webhooks list`. */
export async function listed(
  args: { status?: string | undefined; before?: string | undefined; limit: string } & Output,
) {
  const status =
    args.status === undefined ? null : webhookStatuses.find((one) => one === args.status);
  if (status === undefined) stopWith(`--status: give one of ${webhookStatuses.join(", ")}.`, 2);
  const limit = Number(args.limit);
  if (!Number.isInteger(limit) || limit < 1) stopWith("--limit: give a whole number from 1.", 2);
  const before = args.before === undefined ? null : Number(args.before);
  if (before !== null && (!Number.isInteger(before) || before < 1)) {
    stopWith("--before: give the number that a page ended with.", 2);
  }
  await withStore(async (store, { webhookUrls: urls }) => {
    const page = { status, before, limit: Math.min(limit, deliveriesMax) };
    const log = await readDeliveries({ store, urls }, page);
    if (args.json === true) {
      console.log(JSON.stringify(log));
      return;
    }
    if (urls.length === 0) console.log("Webhooks are off: ALMONER_WEBHOOK_URLS lists no address.");
    for (const one of log.deliveries) console.log(printed(one));
    if (log.count === 0) console.log("The log of deliveries is empty.");
    if (log.next !== null) console.log(`More: --before ${log.next}`);
  });
}

/** `bun run webhooks test`. */
export async function tested(args: { operator: string } & Output) {
  await withStore(async (store, config) => {
    const post = testPost({ webhookSecret: webhookSecretOf(config) }, systemClock);
    const verb = { store, clock: systemClock, urls: config.webhookUrls, post };
    const outcome = await testWebhooks(verb, args.operator);
    if (!outcome.ok) stopWith(refusalOf(webhookRefusals, outcome.failure).detail);
    const { deliveries } = outcome.value;
    if (args.json === true) console.log(JSON.stringify(outcome.value));
    else for (const one of deliveries) console.log(printed(one));
    if (deliveries.some(({ status }) => status !== "delivered")) process.exitCode = 1;
  });
}

/** `bun run webhooks resend ID`. */
export async function resent(args: { id: string; operator: string } & Output) {
  if (!/^\d{1,15}$/.test(args.id)) stopWith("Give the number of a delivery, as list shows it.", 2);
  await withStore(async (store, { webhookUrls: urls }) => {
    const call = { id: Number(args.id), operator: args.operator };
    const outcome = await resendDelivery({ store, clock: systemClock, urls }, call);
    if (!outcome.ok) stopWith(`${args.id}: ${refusalOf(webhookRefusals, outcome.failure).detail}`);
    console.log(args.json === true ? JSON.stringify(outcome.value) : printed(outcome.value));
  });
}

/** `bun run webhooks secret`. */
export function secretShown() {
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
