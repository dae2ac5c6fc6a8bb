import { defineCommand } from "citty";
import { Chaos } from "./chain/chaos.ts";
import { chaos, faucet, send } from "./chain/client-commands.ts";
import { serve } from "./chain/serve-command.ts";
import { runCommand } from "./support/command.ts";

const json = { type: "boolean", description: "Answer as JSON on standard output" } as const;
const url = {
  type: "string",
  description: "URL of the chain; default: that of the data folder",
} as const;
const common = { url, json };

/** Each trouble of the chaos switch as an option: hang_ms is --hang-ms. */
const troubles = Object.fromEntries(
  Object.entries(Chaos.shape).map(([name, shape]) => [
    name.replaceAll("_", "-"),
    { type: "string", description: shape.description ?? name } as const,
  ]),
);

const serveArgs = {
  port: { type: "string", description: "Port, 0 for a free one (ALMONER_CHAIN_PORT)" },
  "any-port": { type: "boolean", description: "Take a free port when that one is taken" },
  memory: { type: "boolean", description: "Store nothing: every start is a new chain" },
  ...troubles,
} as const;

const command = defineCommand({
  meta: {
    name: "chain",
    description: "A Solana of your own for development and tests, with worthless SOL and USDC",
  },
  args: serveArgs,
  default: "serve",
  subCommands: {
    serve: defineCommand({
      meta: { name: "serve", description: "Runs the chain (the default command)" },
      args: serveArgs,
      run: ({ args }) =>
        serve({
          port: args.port,
          anyPort: args["any-port"] === true,
          keep: args.memory !== true,
          chaos: chaosIn(args),
        }),
    }),
    faucet: defineCommand({
      meta: { name: "faucet", description: "Gives a wallet SOL and USDC" },
      args: {
        wallet: { type: "string", required: true, description: "Address of the wallet" },
        sol: { type: "string", default: "1", description: "SOL" },
        usdc: { type: "string", default: "100", description: "USDC" },
        ...common,
      },
      run: ({ args }) => faucet(args),
    }),
    send: defineCommand({
      meta: {
        name: "send",
        description: "Pays USDC from a new donor wallet",
      },
      args: {
        link: {
          type: "positional",
          required: false,
          description: "A Solana Pay link, as on /donate pages",
        },
        to: { type: "string", description: "Wallet that is paid" },
        amount: { type: "string", description: "USDC (1)" },
        memo: { type: "string", description: "Memo: a donation's names its intent" },
        reference: { type: "string", description: "Addresses to find it by, comma-separated" },
        ...common,
      },
      run: ({ args }) => send(args),
    }),
    chaos: defineCommand({
      meta: { name: "chaos", description: "Shows the simulated failures, or sets them" },
      args: {
        off: { type: "boolean", description: "Turn all simulated failures off" },
        ...troubles,
        ...common,
      },
      run: ({ args }) =>
        chaos({ url: args.url, json: args.json, off: args.off, set: chaosIn(args) }),
    }),
  },
});

/** The troubles among the options. */
function chaosIn(args: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(
    Object.keys(Chaos.shape).flatMap((name) => {
      const given = args[name.replaceAll("_", "-")];
      return typeof given === "string" ? [[name, Number(given)]] : [];
    }),
  );
}

await runCommand(command);
