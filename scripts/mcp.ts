import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Ask } from "#api/mcp/call.ts";
import { mcpServer } from "#api/mcp/server.ts";
import { doors } from "#content/openapi/mcp-tools.ts";
import { version } from "#content/contract/base/version.ts";
import { runCommand, textOption, wordedCommand } from "./support/command.ts";
import { stopSignal, stopWith } from "./support/config.ts";

const waitMsMax = 30_000;

export const command = wordedCommand("mcp", {
  args: {
    url: { ...textOption, required: true },
    tools: { type: "enum", options: [...doors], default: "default" },
  },
  run: async ({ args }) => {
    const stop = stopSignal();
    const origin = URL.parse(args.url)?.origin ?? "";
    if (!/^https?:/.test(origin))
      stopWith("--url: give the origin of a directory, like https://almoner.example", 2);
    const world = { ask: askOver(origin), origin, door: args.tools };
    const closed = new Promise<void>((resolve) => {
      // The client ends the connection by closing stdin.
      process.stdin.once("end", resolve);
      stop.addEventListener("abort", () => resolve());
    });
    const server = serveStdio(() => mcpServer(world));
    await closed;
    await server.close();
    process.exit(0);
  },
});

/** Secret of a bound agent_id. From the environment, because other users can see a program's arguments. */
const secret = process.env["ALMONER_AGENT_SECRET"];

/** Sends requests over HTTP. If the directory does not answer, the result is a refusal that says so. */
const askOver =
  (origin: string): Ask =>
  async ({ method, path, body }) => {
    try {
      return await fetch(origin + path, {
        method,
        headers: {
          "content-type": "application/json",
          "user-agent": `almoner-mcp/${version}`,
          ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
        },
        signal: AbortSignal.timeout(waitMsMax),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch {
      const detail = `The directory at ${origin} does not answer.`;
      return Response.json({ status: 503, code: "no_answer", detail }, { status: 503 });
    }
  };

if (import.meta.main) await runCommand(command);
