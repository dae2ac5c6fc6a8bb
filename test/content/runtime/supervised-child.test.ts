import { expect, test } from "bun:test";
import { join } from "node:path";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { startChild, superviseChild } from "#content/runtime/supervised-child.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();
const aScript = (text: string) => {
  const path = join(folder, `${Bun.hash(text)}.ts`);
  writeFileSync(path, text);
  return path;
};

test("a child that has closed its channel, or has ended, is sent nothing", async () => {
  const script = aScript(
    'process.send("here"); process.on("message", () => process.disconnect()); setInterval(() => {}, 1_000);',
  );
  const here = Promise.withResolvers<void>();
  const child = startChild({ script, onMessage: () => here.resolve() });
  await here.promise;
  // The first makes it leave; none of those on the way, or after it left, may throw.
  for (let sent = 0; sent < 50; sent++) {
    child.send("leave");
    await Bun.sleep(5);
  }
  await child.stop();
  child.send("anyone?");
  expect(child.pid).toBeGreaterThan(0);
});

test("a child of low priority gives way, with the session that it has to itself", async () => {
  const script = aScript("setInterval(() => {}, 1_000);");
  // Without rights of its own a process may say this of a session once in a tenth of a second.
  for (const last of [false, false, true]) {
    const child = startChild({ script, nice: 19 });
    const own = getPriority(child.pid);
    // Not every kernel weighs sessions.
    const session = `/proc/${child.pid}/autogroup`;
    const shared = existsSync(session) ? readFileSync(session, "utf8").trim() : `nice ${own}`;
    await child.stop();
    expect(own).toBe(constants.priority.PRIORITY_LOW);
    if (shared.endsWith(`nice ${own}`)) break;
    if (last) expect(shared).toEndWith(`nice ${own}`);
    await Bun.sleep(150);
  }
});

test("a child that has given signs of life and gives none any more is killed and started again", async () => {
  // Stopped like this it cannot even hear that it shall end.
  const script = aScript(
    'process.send("heartbeat"); process.send({ pid: process.pid }); setInterval(() => process.kill(process.pid, "SIGSTOP"), 10);',
  );
  const ended: string[] = [];
  const twice = Promise.withResolvers<void>();
  const child = superviseChild<{ pid: number }>({
    script,
    args: () => [],
    silentMaxMs: 80,
    onEnd: ({ cause }) => {
      ended.push(cause);
      if (ended.length === 2) twice.resolve();
    },
  });
  expect((await child.ready).pid).toBe(child.pid());
  await twice.promise;
  await child.stop();
  expect(ended).toEqual(Array.from({ length: 2 }, () => "it hung: no sign of life in 0.08 s"));
});
