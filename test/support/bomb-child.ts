import { readFileSync } from "node:fs";
import { openEndpoint, openRpc } from "#api/chain/rpc.ts";
import { openHostLook } from "#api/onboarding/host-proof.ts";
import { aNameServer } from "#test/support/name-server.ts";

// Asks a host, or a node, at each of some ports four times at once: writes how much higher the peak of memory is then, and what was seen.

const [who = "", ...ports] = process.argv.slice(2);
const peakMb = () =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024;

const names = await aNameServer();
const look = (port: number) =>
  openHostLook({
    claimResolver: names.address,
    claimPorts: [1, port],
    claimAddresses: ["127.0.0.1"],
  });
const asks: Record<string, (port: string) => Promise<unknown>> = {
  host: (port) =>
    look(Number(port))({
      website: "http://kitchen.example/",
      host: "kitchen.example",
      token: "none",
    }),
  node: (at) => {
    const rpc = openRpc([openEndpoint(`http://127.0.0.1:${at}`, "any")], { deadlineMs: 1_000 });
    return rpc.ask("getSlot", [], (answer) => ({ clear: answer }));
  },
};
const ask = asks[who] ?? (() => Promise.reject(new Error("host or node?")));
await ask("1"); // Nothing has a name yet, and no node listens at all: code is loaded, nothing more.
names.names["kitchen.example"] = { addresses: [["127.0.0.1"]] };
const beforeMb = peakMb();
const looks: object[] = [];
for (const port of ports) {
  const seen = await Promise.all(Array.from({ length: 4 }, () => ask(port)));
  looks.push({ moreMb: peakMb() - beforeMb, seen: seen[0] });
}
process.stdout.write(JSON.stringify(looks));
process.exit(0);
