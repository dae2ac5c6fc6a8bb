import { every } from "./timing.ts";

/**
 * Tells systemd, where it started this process (NOTIFY_SOCKET), that the service is ready, and then at half of WatchdogSec
 * that it lives: one whose event loop hangs falls silent, and is ended and started again. Elsewhere it does nothing.
 */
export function reportToSystemd(
  env: Readonly<Record<string, string | undefined>>,
  onFailure: (error: unknown) => void,
): { stop(): Promise<void> } | null {
  if (env["NOTIFY_SOCKET"] === undefined) return null;
  // Its own program says it: Bun has no datagrams over Unix sockets.
  const say = async (words: string) => {
    const child = Bun.spawn(["systemd-notify", words], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
  };
  const watchdogMs = Number(env["WATCHDOG_USEC"] ?? 0) / 1_000;
  let word = "--ready";
  const tell = async () => {
    await say(word);
    word = "WATCHDOG=1";
  };
  if (watchdogMs > 0) return every(tell, { everyMs: watchdogMs / 2, onFailure });
  void tell().catch(onFailure);
  return null;
}
