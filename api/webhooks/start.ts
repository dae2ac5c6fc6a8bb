import type { Context } from "#api/context.ts";
import { openPost } from "./post.ts";
import { type Sender, startSender } from "./sender.ts";

/** Starts sending webhooks; null when the operator listed nobody to send to: then nothing leaves, ever. */
export function startWebhooks(context: Context): Sender | null {
  const { config, secrets, store, clock, log, publication } = context;
  if (config.webhookUrls.length === 0 || secrets.webhookSecret === null) return null;
  return startSender({
    store,
    clock,
    log,
    urls: config.webhookUrls,
    baseUrl: config.baseUrl,
    post: openPost(secrets.webhookSecret, clock),
    chance: Math.random,
    publishedTo: publication === undefined ? undefined : () => publication().profilesTo,
  });
}
