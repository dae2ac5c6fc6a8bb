import { Webhook } from "standardwebhooks";
import { withoutUnsafe } from "#content/nonprofit/text-safety.ts";
import type { Clock } from "#content/contract/time.ts";
import { retryAfterMs } from "#content/operation/webhook-retries.ts";
import type { Post } from "./webhooks.ts";
import { openTargets, type TargetOf } from "./target.ts";

const timeoutMsDefault = 10_000;
const answerLengthMax = 200;

type PostOptions = { timeoutMs?: number; targetOf?: TargetOf };

/**
 * Signs and sends as Standard Webhooks says. Only the address itself is contacted: a redirect is an answer like any
 * other that is no success. Of the answer no more than its beginning is read.
 */
export function openPost(
  secret: string,
  clock: Clock,
  { timeoutMs = timeoutMsDefault, targetOf = openTargets() }: PostOptions = {},
): Post {
  const signing = new Webhook(secret);
  return async ({ url, id, payload }, stop) => {
    const sentAt = clock();
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stop, limit]);
    try {
      const target = await unless(signal, targetOf(url));
      const response = await fetch(target.url, {
        method: "POST",
        redirect: "manual",
        signal,
        headers: {
          ...(target.host === null ? {} : { host: target.host }),
          "content-type": "application/json",
          "user-agent": "Almoner-Webhooks/1",
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(sentAt.getTime() / 1_000)),
          "webhook-signature": signing.sign(id, sentAt, payload),
        },
        body: payload,
      });
      return {
        delivered: response.ok,
        status: response.status,
        answer: await beginningOf(response),
        retryAfterMs: retryAfterMs(response.headers.get("retry-after"), sentAt),
      };
    } catch (error) {
      if (stop.aborted) throw error;
      const answer = limit.aborted ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error);
      return { delivered: false, status: null, answer, retryAfterMs: 0 };
    }
  };
}

/** The outcome of work that cannot be cut off, or the failure of the signal when that comes first. */
const unless = <Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    }),
  ]);

/** An operator who asks whether an address answers waits this long; the service lets a request be silent for 10 s. */
const testTimeoutMs = 5_000;

/** For testing an address while somebody waits for the outcome. When webhooks are off there is nothing to send to. */
export const testPost = ({ webhookSecret }: { webhookSecret: string | null }, clock: Clock): Post =>
  webhookSecret === null
    ? () => Promise.reject(new Error("webhooks are off"))
    : openPost(webhookSecret, clock, { timeoutMs: testTimeoutMs });

/** A receiver may answer without an end; a status that came is not lost when the body does not. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < answerLengthMax) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
  } catch {
    // Cut off: what was read so far is what is kept.
  }
  return clean(text);
}

const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? `${String(error.code)}: ` : "";
  return clean(`${code}${error instanceof Error ? error.message : String(error)}`);
};

const clean = (text: string): string =>
  withoutUnsafe(text.toWellFormed())
    .replaceAll(/\s+/g, " ")
    .slice(0, answerLengthMax)
    .toWellFormed()
    .trim();
