import { expect, test } from "bun:test";
import { join } from "node:path";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { freePort, startService } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

/** Of keep-alive requests; ALMONER_FULL_TESTS=1 sends all 10,000. */
const requests = isFull ? 10_000 : 500;
const clients = 50;
const restarts = isFull ? 4 : 1;
const stopWithinMs = 5_000;
/** On a busy machine a connection can come after the last that a service takes and before it closes its socket: Linux resets it. */
const resetsMax = isFull ? 0 : clients / 10;

const folder = theFolder();
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

/** A service on the common port that listens: then it is named in the data folder. */
async function start(): Promise<Bun.Subprocess> {
  const settings = {
    ALMONER_DATA_DIR: folder,
    ALMONER_PORT: String(port),
    ALMONER_READS_PER_MINUTE: "0",
    ALMONER_DRAIN_S: "1",
  };
  const service = startService(settings, "inherit", ["--share-port"]);
  const named = async () =>
    (await Bun.file(join(folder, "service.json")).json()) as { pid: number };
  const pid = () =>
    named().then(
      (one) => one.pid,
      () => 0,
    );
  while ((await pid()) !== service.pid && service.exitCode === null) await Bun.sleep(20);
  return service;
}

/** How long it took to end, in milliseconds. */
async function stop(service: Bun.Subprocess): Promise<number> {
  const sentMs = performance.now();
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  return performance.now() - sentMs;
}

/** A service that is told to stop is not ready at once, and answers on for a while. */
async function expectLeaving(service: Bun.Subprocess): Promise<void> {
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const stopped = stop(service);
  await Bun.sleep(100);
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, ready.headers.get("connection")]).toEqual([503, "close"]);
  const reasons = [{ part: "service", why: "the service is being stopped" }];
  expect(await ready.json()).toMatchObject({ code: "not_ready", reasons });
  await Bun.sleep(400);
  const answer = await fetch(`${url}/api/causes`);
  expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
  await stopped;
}

test(`${requests} requests are answered while services on one port are restarted`, async () => {
  let service = await start();
  const words = [`${url}/api/causes`, String(clients), String(requests)];
  const client = Bun.spawn(["node", "test/support/keep-alive-client.mjs", ...words], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const tookMs: number[] = [];
  for (let restart = 0; restart < restarts; restart++) {
    const next = await start();
    tookMs.push(await stop(service));
    service = next;
  }
  void client.stdin.end();
  const { answered, failures } = await new Response(client.stdout).json();
  await expectLeaving(service);
  measured(
    `${shown(answered)} answers over ${restarts} restarts, none reset, ${shown(Math.max(...tookMs))} ms to stop`,
  );
  const { ECONNRESET: resets = 0, ...others } = failures;
  expect(others).toEqual({});
  expect(resets).toBeLessThanOrEqual(resetsMax);
  expect(answered).toBeGreaterThanOrEqual(requests);
  if (isFull) expect(Math.max(...tookMs)).toBeLessThan(stopWithinMs);
});
