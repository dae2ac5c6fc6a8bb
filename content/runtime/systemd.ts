import { every } from "./timing.ts";

/**
 * Tells systemd, if it started this process (NOTIFY_SOCKET), that the service is ready, and then twice per WatchdogSec that
 * it is alive: a process with a hung event loop falls silent and is restarted. Otherwise does nothing.
 */
export function reportToSystemd(
  env: Readonly<Record<string, string | undefined>>,
  onFailure: (error: unknown) => void,
): { stop(): Promise<void> } | null {
  if (env["NOTIFY_SOCKET"] === undefined) return null;
  // Use systemd's own program: Bun has no datagrams over Unix sockets.
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
