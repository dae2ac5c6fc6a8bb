import { z } from "zod";
import { objectIn } from "#content/contract/base/json.ts";
import { type Random, randomOf } from "#scripts/seed/numbers.ts";
import type { Answer, Call } from "./json-rpc.ts";
import type { Ledger } from "./ledger.ts";
import { signatureIn } from "./methods.ts";

const percent = (meaning: string) => z.number().min(0).max(100).default(0).describe(meaning);
const milliseconds = (meaning: string) =>
  z.int().min(0).max(600_000).default(10_000).describe(meaning);

/** The failures to simulate, and how often in percent. The same seed gives the same failures in the same order. */
export const Chaos = z.strictObject({
  seed: z.int().default(1).describe("start of the random numbers"),
  errors: percent("answers that are an error, in half of the cases after the work was done"),
  hangs: percent("answers that come only after hang_ms, and are an error then"),
  hang_ms: milliseconds("how long a hanging answer takes"),
  nulls: percent("reads that know nothing, or a transaction but not what it did"),
  garbage: percent("answers that are no JSON-RPC"),
  late: percent("transactions that are seen only after a while"),
  late_ms: milliseconds("the longest of these whiles"),
  lost: percent("transactions that are accepted and never land"),
});
export type Chaos = z.infer<typeof Chaos>;

/** Opens the switch for failures, which tests, options and POST /chaos set. */
export function openChaos(initial: unknown = {}) {
  let chaos = Chaos.parse(initial);
  let random = randomOf(chaos.seed, 0);
  return {
    now: () => chaos,
    /** Failures that are not named are switched off. Throws a ZodError. */
    set: (changed: unknown) => {
      chaos = Chaos.parse(changed);
      random = randomOf(chaos.seed, 0);
    },
    /** Answers a request by `answer`, or with a failure. */
    trouble: async (
      { body, signal }: { body: string; signal: AbortSignal },
      answer: () => Response,
    ): Promise<Response> => {
      if (random.chance(chaos.hangs)) {
        await untilGivenUp(signal, chaos.hang_ms);
        return failure(body, random);
      }
      if (random.chance(chaos.errors)) {
        if (random.chance(50)) answer();
        return failure(body, random);
      }
      return random.chance(chaos.garbage) ? garbage(body, random) : answer();
    },
    /** Answers single calls by `answer`, or with a failure. */
    disturb:
      (ledger: Ledger, answer: Answer): Answer =>
      (call) => {
        if (call.method !== "sendTransaction") {
          return random.chance(chaos.nulls) ? ignorant(call, answer, random) : answer(call);
        }
        if (random.chance(chaos.lost)) return signatureIn(call.params);
        const signature = answer(call);
        if (ledger.landing(String(signature)) !== null && random.chance(chaos.late)) {
          const lateMs = random.between(0, chaos.late_ms);
          ledger.showFrom(String(signature), ledger.clock().getTime() + lateMs);
        }
        return signature;
      },
  };
}

function untilGivenUp(signal: AbortSignal, longestMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, longestMs);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}

const idIn = (body: string): unknown => objectIn(body)?.["id"] ?? null;

/** The answers of overloaded, limiting and broken nodes. */
function failure(body: string, random: Random): Response {
  const id = idIn(body);
  const error = (code: number, message: string) => ({
    jsonrpc: "2.0",
    error: { code, message },
    id,
  });
  return random.pick([
    () => Response.json(error(429, "Too many requests for a specific RPC call"), { status: 429 }),
    () => new Response("Internal Server Error", { status: 500 }),
    () => new Response("<html>503 Service Temporarily Unavailable</html>", { status: 503 }),
    () => Response.json(error(-32_005, "Node is behind by 123 slots")),
    () => Response.json(error(-32_603, "Internal error")),
  ])();
}

function garbage(body: string, random: Random): Response {
  const id = idIn(body);
  const text = random.pick([
    "<!doctype html><title>Just a moment…</title>",
    '{"jsonrpc":"2.0","res',
    "",
    "null",
    '{"jsonrpc":"2.0","result":null,"id":-1}',
    JSON.stringify({ jsonrpc: "2.0", result: { value: {} }, id }),
    JSON.stringify({ jsonrpc: "2.0", result: 7, id }),
  ]);
  return new Response(text, { headers: { "content-type": "application/json" } });
}

/** Answers reads like a node that lags or has lost its history; other calls as usual. */
function ignorant(call: Call, answer: Answer, random: Random): unknown {
  const answered = answer(call);
  switch (call.method) {
    case "getTransaction":
      return answered !== null && random.chance(50) ? { ...answered, meta: null } : null;
    case "getSignatureStatuses": {
      const { context, value } = answered as { context: unknown; value: unknown[] };
      return { context, value: value.map(() => null) };
    }
    case "getSignaturesForAddress":
      return [];
    default:
      return answered;
  }
}
