import { fetchPlain } from "#content/runtime/plain-fetch.ts";
import { Webhook } from "standardwebhooks";
import { contactAddress, inUrl, type Lookup, systemLookup } from "#api/http/resolve.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { withoutUnsafe } from "#content/nonprofit/text.ts";
import { isPublicHost } from "#content/nonprofit/website.ts";
import { retryAfterMs } from "#content/operation/webhook-retries.ts";

/** The outcome of one attempt. `status` is null when nothing answered. */
export type Posted = {
  delivered: boolean;
  status: number | null;
  /** The beginning of the answer, or why there was none. At most 200 characters. */
  answer: string;
  /** What the receiver asked for; 0 for nothing. */
  retryAfterMs: number;
};

/** Sends one message once. Throws only when `stop` fires: then no one knows the outcome of it. */
export type Post = (
  message: { url: string; id: string; payload: string },
  stop: AbortSignal,
) => Promise<Posted>;

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
      const response = await fetchPlain(target.url, {
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

/** A receiver may answer without an end; a status that came is not lost when the body does not. */
async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const part of response.body ?? []) {
      text += decoder.decode(part, { stream: true });
      if (text.length >= answerLengthMax) break;
    }
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

/** Where a message goes: the address to connect to, and the host to name when that is another. */
export type Target = { url: string; host: string | null };

export type TargetOf = (listed: string) => Promise<Target>;

/**
 * Finds where a listed address leads. Anyone who runs the DNS of a public name could point it into the operator's own
 * network: over http such a name has to lead to a public address, and that very one is contacted. Over https the
 * certificate proves who answers; an IP address or a name of the own network is what the operator wrote down.
 */
export const openTargets =
  (ask: Lookup = systemLookup, proxied = isProxied()): TargetOf =>
  async (listed) => {
    const url = new URL(listed);
    const leadsItself = url.protocol !== "http:" || !isPublicHost(url.hostname);
    // A proxy looks names up itself, and decides where they may lead.
    if (leadsItself || proxied) return { url: listed, host: null };
    const found = await contactAddress(url.hostname, ask);
    if (found === null) {
      throw new Error(
        `${url.hostname} leads to an address that is not public: list that address itself, or use https`,
      );
    }
    const { host } = url;
    url.hostname = inUrl(found);
    return { url: url.href, host };
  };

const isProxied = (): boolean =>
  ["http_proxy", "HTTP_PROXY"].some((name) => (process.env[name] ?? "") !== "");
