import { defineCommand } from "citty";
import { chaos, faucet, send } from "./chain/client-commands.ts";
import { serve, serveArgs } from "./chain/serve-command.ts";
import { runCommand } from "./support/command.ts";

const command = defineCommand({
  meta: {
    name: "chain",
    description: "A Solana of your own for development and tests, with worthless SOL and USDC",
  },
  args: serveArgs,
  default: "serve",
  subCommands: { serve, faucet, send, chaos },
});

await runCommand(command);
