import { PublicKey } from "@solana/web3.js";
import type { ServerWebSocket, WebSocketHandler } from "bun";
import { z } from "zod";
import { tokenAccount } from "#api/chain/transfer.ts";
import { microUsdcFrom } from "#content/contract/base/money.ts";
import { type Clock, systemClock } from "#content/contract/base/time.ts";
import type { Commitment } from "#content/contract/transfer.ts";
import { Chaos, openChaos } from "./chaos.ts";
import { give, type Wish } from "./instructions.ts";
import { openJournal } from "./journal.ts";
import {
  Address,
  type Answer,
  answerBody,
  unknownMethod,
  type Call,
  codes,
  commitmentIn,
  inContext,
  Options,
  paramsIn,
  RpcError,
  Signature,
} from "./json-rpc.ts";
import { type SlotOptions, openLedger, slotsAsOnMainnet, type Ledger } from "./ledger.ts";
import { methods } from "./methods.ts";
import { usdcMint } from "./svm.ts";

export type LocalChainOptions = {
  clock?: Clock;
  /** File that stores all transactions; null for none. */
  journal?: string | null;
  slots?: SlotOptions;
  chaos?: unknown;
};

/** A private Solana: the real runtime with the real token programs, without validators. */
export type LocalChain = ReturnType<typeof openLocalChain>;

/** Opens the chain. Throws JournalTaken while another process uses the journal. */
export function openLocalChain(options: LocalChainOptions = {}) {
  const { clock = systemClock, slots = slotsAsOnMainnet } = options;
  const journal = openJournal(options.journal ?? null);
  const ledger = openLedger(clock, slots, journal);
  const chaos = openChaos(options.chaos);
  const answerCall: Answer = chaos.disturb(ledger, ({ method, params }) => {
    if (!isMethod(method)) throw unknownMethod();
    return methods[method](ledger, params);
  });
  return {
    ledger,
    chaos,
    /** Gives away SOL and USDC; returns the signature. */
    give: (wish: Wish) => give(ledger, wish),
    /** Creates missing USDC accounts of wallets, and pays the wallets' rent, as clients require. Returns how many. */
    ensure: (wallets: readonly PublicKey[]) => {
      const lacking = wallets.filter(
        (wallet) => ledger.account(tokenAccount(wallet, usdcMint).toBase58()) === null,
      );
      for (const wallet of lacking) {
        const held = ledger.account(wallet.toBase58())?.lamports ?? 0;
        const lamports = BigInt(Math.max(0, ledger.rentFor(0) - held));
        give(ledger, { wallet, lamports, usdc: 0n });
      }
      return lacking.length;
    },
    /** Answers JSON-RPC, with failures when chaos is on. */
    rpc: (body: string, signal: AbortSignal) =>
      chaos.trouble({ body, signal }, () => {
        const answered = answerBody(body, answerCall);
        return answered === null ? new Response(null, { status: 204 }) : Response.json(answered);
      }),
    close: () => journal.close(),
  };
}

const isMethod = (name: string): name is keyof typeof methods => Object.hasOwn(methods, name);

export type LocalChainServer = ReturnType<typeof serveLocalChain>;

/** Pages of any origin may use it, like a public node, because its money is worth nothing. */
const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*",
  "access-control-allow-methods": "GET, POST, OPTIONS",
};

const bodyBytesMax = 4_194_304;
const lamportsPerSol = 1_000_000_000;

const triesMax = 20;

/**
 * Serves a local chain on 127.0.0.1, and also at the next port, where @solana/web3.js looks for sockets, unless another
 * program uses that. Port 0 takes two free ports. Throws when the port is taken.
 */
export function serveLocalChain(chain: LocalChain, port: number) {
  const websocket = signatureSubscriptions(chain.ledger);
  for (let tries = 1; ; tries++) {
    const server = listen(chain, port, websocket);
    const ownPort = server.port ?? port;
    const next = listenOrNull(chain, ownPort + 1, websocket);
    if (next === null && port === 0 && tries < triesMax) {
      void server.stop(true);
      continue;
    }
    return {
      url: `http://127.0.0.1:${ownPort}`,
      port: ownPort,
      /** Whether sockets are also served at the next port, where clients look for them. */
      nextPort: next !== null,
      stop: async (): Promise<void> => {
        await Promise.all([server.stop(true), next?.stop(true)]);
      },
    };
  }
}

type Sockets = ReturnType<typeof signatureSubscriptions>;

const listen = (chain: LocalChain, port: number, websocket: Sockets): Bun.Server<Watch> =>
  Bun.serve<Watch>({
    hostname: "127.0.0.1",
    port,
    maxRequestBodySize: bodyBytesMax,
    // Chaos lets answers hang for longer than any idle limit.
    idleTimeout: 0,
    websocket,
    fetch: async (request, server) => {
      if (server.upgrade(request, { data: newWatch() })) return undefined;
      const response = await answer(chain, request);
      for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
      return response;
    },
  });

function listenOrNull(...args: Parameters<typeof listen>): Bun.Server<Watch> | null {
  try {
    return listen(...args);
  } catch {
    return null;
  }
}

async function answer(chain: LocalChain, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const nothing = () => new Response("There is nothing here.\n", { status: 404 });
  if (request.method === "OPTIONS") return new Response(null, { status: 204 });
  if (request.method === "GET") return pages[pathname]?.(chain) ?? nothing();
  if (request.method !== "POST") return new Response("Send GET or POST.\n", { status: 405 });
  if (pathname === "/") return chain.rpc(await request.text(), request.signal);
  const body = await request.json().catch(() => null);
  return controls[pathname]?.(chain, body) ?? nothing();
}

const pages: Record<string, (chain: LocalChain) => Response> = {
  "/": () => new Response("Almoner's local chain: Solana's JSON-RPC by POST. No real money.\n"),
  "/health": () => new Response("ok"),
  "/chaos": ({ chaos }) => Response.json(chaos.now()),
};

const FaucetBody = z.strictObject({
  wallet: Address,
  sol: z.coerce.number().min(0).max(10_000).default(0).describe("SOL"),
  usdc: z
    .union([z.number().transform(String), z.string()])
    .default("0")
    .transform(microUsdcFrom)
    .refine((amount) => amount !== null, "send a decimal number with at most 6 decimals"),
});

const EnsureBody = z.strictObject({ wallets: z.array(Address).max(10_000) });

/** Addresses that only a local chain has. */
const controls: Record<string, (chain: LocalChain, body: unknown) => Response> = {
  "/faucet": (chain, body) =>
    checked(FaucetBody, body, ({ wallet, sol, usdc }) => {
      const lamports = BigInt(Math.round(sol * lamportsPerSol));
      return { signature: chain.give({ wallet: new PublicKey(wallet), lamports, usdc }) };
    }),
  "/ensure": (chain, body) =>
    checked(EnsureBody, body, ({ wallets }) => ({
      made: chain.ensure(wallets.map((wallet) => new PublicKey(wallet))),
    })),
  "/chaos": ({ chaos }, body) =>
    checked(Chaos, body, (changed) => {
      chaos.set(changed);
      return chaos.now();
    }),
};

function checked<Body>(shape: z.ZodType<Body>, body: unknown, act: (body: Body) => unknown) {
  const read = shape.safeParse(body);
  if (!read.success) return Response.json({ error: z.prettifyError(read.error) }, { status: 400 });
  return Response.json(act(read.data));
}

/** A signature to wait for; null for all slots. */
type Subscription = { signature: string; commitment: Commitment } | null;

/** The state of one socket: its subscriptions, by their numbers. */
export type Watch = {
  waiting: Map<number, Subscription>;
  looking: ReturnType<typeof setInterval> | null;
};

export const newWatch = (): Watch => ({ waiting: new Map(), looking: null });

const subscriptionsMax = 100;
const lookEveryMs = 100;

const SubscribeParams = z.tuple([Signature, Options]);
const UnsubscribeParams = z.tuple([z.int()]);

/**
 * Tells clients once when a signature has reached the commitment they wait for, and about each new slot. There are no
 * other subscriptions.
 */
export function signatureSubscriptions(ledger: Ledger): WebSocketHandler<Watch> {
  let subscribed = 0;

  function answerWatch({ waiting }: Watch, { method, params }: Call): number | boolean {
    const isOfSlots = method === "slotSubscribe";
    if (isOfSlots || method === "signatureSubscribe") {
      if (waiting.size >= subscriptionsMax) throw refusal("Too many subscriptions");
      const [signature] = isOfSlots ? [null] : paramsIn(SubscribeParams, params);
      const commitment = commitmentIn(params);
      waiting.set(++subscribed, signature === null ? null : { signature, commitment });
      return subscribed;
    }
    if (method !== "signatureUnsubscribe" && method !== "slotUnsubscribe") throw unknownMethod();
    const [subscription] = paramsIn(UnsubscribeParams, params);
    if (!waiting.delete(subscription)) throw refusal("Invalid subscription id.");
    return true;
  }

  function tell(socket: ServerWebSocket<Watch>): void {
    const notify = (method: string, subscription: number, result: unknown) =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", method, params: { result, subscription } }));
    for (const [subscription, awaited] of socket.data.waiting) {
      if (awaited === null) {
        const slot = ledger.slots.now();
        notify("slotNotification", subscription, { slot, parent: slot - 1, root: slot - 32 });
        continue;
      }
      const landing = ledger.seen(awaited.signature, awaited.commitment);
      if (landing === null) continue;
      socket.data.waiting.delete(subscription);
      const result = inContext(ledger.slots.at(awaited.commitment), { err: landing.outcome.err });
      notify("signatureNotification", subscription, result);
    }
  }

  return {
    open: (socket) => {
      // Commitments depend only on time, so no event could wake it.
      socket.data.looking = setInterval(() => tell(socket), lookEveryMs);
    },
    message: (socket, body) => {
      const answered = answerBody(String(body), (call) => answerWatch(socket.data, call));
      if (answered !== null) socket.send(JSON.stringify(answered));
    },
    close: ({ data }) => clearInterval(data.looking ?? undefined),
  };
}

const refusal = (why: string) => new RpcError(codes.invalidParams, why);
