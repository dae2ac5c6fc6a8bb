import { whyNoChain } from "./chain/installed.ts";
import { runCommand, wordedCommand } from "./support/command.ts";
import { stopWith } from "./support/config.ts";

const missing = whyNoChain();
if (missing !== null) stopWith(missing);
// Imported late, because they load the chain's library.
const { serve, serveArgs } = await import("./chain/serve-command.ts");
const { chaos, faucet, send } = await import("./chain/client-commands.ts");

export const command = wordedCommand("chain", {
  args: serveArgs,
  default: "serve",
  subCommands: { serve, faucet, send, chaos },
});

if (import.meta.main) await runCommand(command);
