import { PublicKey } from "@solana/web3.js";
import { z } from "zod";
import { microUsdcFrom } from "#content/donation/money.ts";
import { Chaos } from "./chaos.ts";
import type { LocalChain } from "./local-chain.ts";
import { Address } from "./json-rpc.ts";

export type Served = { url: string; port: number; stop(): Promise<void> };

/** Pages of any origin may use it, as they may a public node: its money is worth nothing. */
const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*",
  "access-control-allow-methods": "GET, POST, OPTIONS",
};

const bodyBytesMax = 4_194_304;
const lamportsPerSol = 1_000_000_000;

/** Serves a local chain on 127.0.0.1; port 0 takes a free one. Throws when the port is taken. */
export function serveLocalChain(chain: LocalChain, port: number): Served {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    maxRequestBodySize: bodyBytesMax,
    // Chaos lets answers hang for longer than any idle limit.
    idleTimeout: 0,
    fetch: async (request) => {
      const response = await answer(chain, request);
      for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
      return response;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port ?? port,
    stop: () => server.stop(true),
  };
}

async function answer(chain: LocalChain, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method === "OPTIONS") return new Response(null, { status: 204 });
  if (request.method === "GET") return look(chain, pathname);
  if (request.method !== "POST") return new Response("Send GET or POST.\n", { status: 405 });
  if (pathname === "/") return chain.rpc(await request.text(), request.signal);
  const body = await request.json().catch(() => null);
  const control = controls[pathname];
  if (control === undefined) return new Response("There is nothing here.\n", { status: 404 });
  return control(chain, body);
}

function look(chain: LocalChain, pathname: string): Response {
  if (pathname === "/health") return new Response("ok");
  if (pathname === "/chaos") return Response.json(chain.chaos.now());
  if (pathname !== "/") return new Response("There is nothing here.\n", { status: 404 });
  return new Response("Almoner's local chain: Solana's JSON-RPC by POST. No real money.\n");
}

const decimal = z.union([z.number().transform(String), z.string()]);

const FaucetBody = z.strictObject({
  wallet: Address,
  sol: z.coerce.number().min(0).max(10_000).default(0).describe("SOL"),
  usdc: decimal
    .default("0")
    .transform(microUsdcFrom)
    .refine((amount) => amount !== null, "send a decimal number with at most 6 decimals"),
});

const EnsureBody = z.strictObject({ wallets: z.array(Address).max(10_000) });

/** What only a local chain has. */
const controls: Record<string, (chain: LocalChain, body: unknown) => Response> = {
  "/faucet": (chain, body) =>
    checked(FaucetBody, body, ({ wallet, sol, usdc }) => {
      const lamports = BigInt(Math.round(sol * lamportsPerSol));
      return {
        signature: chain.give({ wallet: new PublicKey(wallet), lamports, usdc: usdc ?? 0n }),
      };
    }),
  "/ensure": (chain, body) =>
    checked(EnsureBody, body, ({ wallets }) => ({
      made: chain.ensure(wallets.map((wallet) => new PublicKey(wallet))),
    })),
  "/chaos": (chain, body) =>
    checked(Chaos, body, (chaos) => {
      chain.chaos.set(chaos);
      return chain.chaos.now();
    }),
};

function checked<Body>(shape: z.ZodType<Body>, body: unknown, act: (body: Body) => unknown) {
  const read = shape.safeParse(body);
  if (!read.success) return Response.json({ error: z.prettifyError(read.error) }, { status: 400 });
  return Response.json(act(read.data));
}
