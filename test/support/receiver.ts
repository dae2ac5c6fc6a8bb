import { Webhook } from "standardwebhooks";
import { WebhookMessage } from "#content/contract/webhook.ts";

/** A message as a receiver got it. `verified` is null when the signature did not fit. */
export type Got = {
  path: string;
  id: string;
  headers: Record<string, string>;
  verified: WebhookMessage | null;
  body: string;
};

type Answering = (got: Got, count: number) => Response | Promise<Response>;

/** A real receiver of webhooks on this machine, which checks signatures with the library that receivers use. */
export function aReceiver(secret: string, answering: Answering = () => new Response("thanks")) {
  const got: Got[] = [];
  const checking = new Webhook(secret);
  let answer = answering;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      const headers = Object.fromEntries(request.headers);
      const body = await request.text();
      let verified: WebhookMessage | null = null;
      try {
        verified = WebhookMessage.parse(checking.verify(body, headers));
      } catch {
        verified = null;
      }
      const one = {
        path: new URL(request.url).pathname,
        id: headers["webhook-id"] ?? "",
        headers,
        verified,
        body,
      };
      got.push(one);
      return answer(one, got.length);
    },
  });
  return {
    got,
    url: (path = "/hook") => `http://127.0.0.1:${server.port}${path}`,
    answerWith: (next: Answering) => {
      answer = next;
    },
    stop: () => server.stop(true),
  };
}

/** Waits until something holds, at most 20 s; throws what it was waiting for. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await Bun.sleep(20);
  }
}
