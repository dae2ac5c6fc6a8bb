import { expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { openHostLook } from "#api/onboarding/host-proof.ts";
import { aNameServer } from "#test/support/name-server.ts";
import { runProgram } from "#test/support/processes.ts";

// A server that is asked for a little and answers with much, or with a little that unpacks to much.

/** 300 MB of zeros, in less than is read of a host. */
const bomb = brotliCompressSync(new Uint8Array(300_000_000), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 24 },
});
const piece = Buffer.alloc(1_048_576, "x");

function sendFor(head: string) {
  return (socket: Socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${head}`);
    let left = 500;
    const go = () => {
      while (left-- > 0 && !socket.destroyed) if (!socket.write(piece)) return;
      socket.destroy();
    };
    socket.on("drain", go);
    go();
  };
}

function aServer(answer: (socket: Socket) => void, when: "asked" | "connected" = "asked") {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (when === "connected") answer(socket);
    else socket.once("data", () => answer(socket));
  }).listen(0, "127.0.0.1");
  const address = server.address();
  return { server, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

const answers: Record<string, (socket: Socket) => void> = {
  "a little that unpacks to 300 MB": (socket) => {
    const head = `content-type: application/json\r\ncontent-encoding: br\r\ncontent-length: ${bomb.length}`;
    socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
    socket.end(bomb);
  },
  "a body without end": sendFor("\r\n"),
  "a length of 100 GB": sendFor("content-length: 99999999999\r\n\r\n"),
  "one chunk of 2 GB": sendFor("transfer-encoding: chunked\r\n\r\n7fffffff\r\n"),
  "a header without end": sendFor("x: "),
};

/** Of a node 4 MB are read, again and again within a second; unbounded, the four would take over 500. */
const cases: [who: string, whats: string[], mbMax: number][] = [
  ["host", Object.keys(answers), 20],
  ["node", ["a little that unpacks to 300 MB", "a body without end"], 200],
];

test.each(cases)("a %s that sends %p takes less than %i MB", async (who, whats, mbMax) => {
  const servers = whats.map((what) => aServer((socket) => answers[what]?.(socket)));
  const child = join(import.meta.dirname, "../support/bomb-child.ts");
  const ports = servers.map(({ port }) => String(port));
  const { out, err } = await runProgram([process.execPath, child, who, ...ports]);
  for (const { server } of servers) server.close();
  expect(err).toBe("");
  const looks = JSON.parse(out) as { moreMb: number; seen: unknown }[];
  const tooMuch = looks.map(({ moreMb }) => moreMb >= mbMax);
  expect(tooMuch).toEqual(whats.map(() => false));
  for (const { seen } of looks) expect(JSON.stringify(seen)).toMatch(/unclear|absent/);
});

test("four hosts are asked at once, and a fifth is told to come again", async () => {
  const names = await aNameServer();
  const open: Socket[] = [];
  const { server, port } = aServer((socket) => void open.push(socket), "connected");
  names.names["kitchen.example"] = { addresses: [["127.0.0.1"]] };
  const config = {
    claimResolver: names.address,
    claimPorts: [1, port] as [number, number],
    claimAddresses: ["127.0.0.1"],
  };
  const look = openHostLook(config, { waitMs: 500 });
  const asked = { website: "http://kitchen.example/", host: "kitchen.example", token: "none" };
  const seen = await Promise.all(Array.from({ length: 5 }, () => look(asked)));
  expect(seen.map(({ said }) => said.includes("other hosts are being asked"))).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
  // Their places are free again.
  expect((await look(asked)).said).not.toContain("other hosts");
  for (const socket of open) socket.destroy();
  server.close();
  names.close();
});
