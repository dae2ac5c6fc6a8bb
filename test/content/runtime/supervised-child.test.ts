import { expect, test } from "bun:test";
import { join } from "node:path";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { startChild } from "#content/runtime/supervised-child.ts";

test("a child that has closed its channel, or has ended, is sent nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "almoner-child-"));
  const script = join(folder, "child.ts");
  writeFileSync(
    script,
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
  rmSync(folder, { recursive: true });
  expect(child.pid).toBeGreaterThan(0);
});
