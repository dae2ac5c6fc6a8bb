import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { isFull, measured, p99, shown } from "#test/support/measured.ts";
import { aDataFolder, aRunningService } from "#test/support/data-folder.ts";
import { aServiceHere } from "#test/support/service-here.ts";

/** Promise 19 says 2,000 sockets, closed within 15 s: ALMONER_FULL_TESTS=1 waits for that, too. */
const sockets = isFull ? 2_000 : 30;
const reads = isFull ? 2_000 : 50;
const p99MaxMs = 100;
const closedWithinMs = 15_000;

/** A client that never ends what it began: a request head, a body, or nothing at all. */
async function aSlowClient(port: number, at: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  const beginnings = [
    "",
    "GET /healthz HTTP/1.1\r\nHost: loc",
    "POST /api/enrich/oak HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
  ];
  socket.write(beginnings[at % beginnings.length] ?? "");
  socket.resume();
  return socket;
}

test(`${sockets} slow clients hold up no one`, async () => {
  const { dataDir, close } = await aDataFolder();
  const { url, stop } = await (isFull ? aRunningService : aServiceHere)(dataDir, {
    ALMONER_READS_PER_MINUTE: "0",
  });
  const port = Number(new URL(url).port);
  const slow: Socket[] = [];
  for (let at = 0; at < sockets; at++) slow.push(await aSlowClient(port, at));
  const beganMs = performance.now();
  const closed = Promise.all(slow.map((socket) => once(socket, "close")));
  const tookMs: number[] = [];
  for (let at = 0; at < reads; at++) {
    const askedMs = performance.now();
    const answer = await fetch(`${url}/api/causes`);
    await answer.arrayBuffer();
    tookMs.push(performance.now() - askedMs);
    expect(answer.status).toBe(200);
  }
  if (isFull) {
    expect(p99(tookMs)).toBeLessThan(p99MaxMs);
    await Promise.race([closed, Bun.sleep(2 * closedWithinMs)]);
    const open = slow.filter((socket) => !socket.destroyed).length;
    const seconds = (performance.now() - beganMs) / 1_000;
    measured(
      `${shown(sockets)} slow sockets: others' p99 ${shown(p99(tookMs))} ms, ${open} open after ${shown(seconds)} s`,
    );
    expect([open, seconds * 1_000 <= closedWithinMs]).toEqual([0, true]);
  }
  for (const socket of slow) socket.destroy();
  await stop();
  close();
});
