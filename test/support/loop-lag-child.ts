import { writeFileSync } from "node:fs";
import { p99 } from "./measured.ts";

// Loaded before a service: says at its end by how much its timers were late, in ms, p99 in steady work.
const everyMs = 5;
const lateMs: number[] = [];
let dueMs = performance.now() + everyMs;
setInterval(() => {
  const nowMs = performance.now();
  lateMs.push(Math.max(0, nowMs - dueMs));
  dueMs = nowMs + everyMs;
}, everyMs).unref();
process.on("SIGUSR2", () => lateMs.splice(0)); // The start does not count.
process.on("exit", () => {
  writeFileSync(process.env["ALMONER_TEST_LAG_FILE"] ?? "/dev/null", String(p99(lateMs)));
});
