import { existsSync, readFileSync } from "node:fs";
import { uptime } from "node:os";

const uptimeFile = "/proc/uptime";
const bootIdFile = "/proc/sys/kernel/random/boot_id";

/** Milliseconds since the machine started, to 10 ms: the same for all its processes, and nothing that sets the clock changes it. */
export const machineUptimeMs = (): number =>
  existsSync(uptimeFile)
    ? Number(readFileSync(uptimeFile, "utf8").split(" ")[0]) * 1_000
    : uptime() * 1_000;

/** Which start of the machine this is. */
export const bootId = (): string =>
  existsSync(bootIdFile) ? readFileSync(bootIdFile, "utf8").trim() : "one boot";

/** This moment, for other processes of the machine. */
export const machineMoment = (): string => `${bootId()} ${machineUptimeMs()}`;

/** How long ago a moment was, in ms; null for one of another boot, or for none. */
export function msSinceMoment(moment: string): number | null {
  const [boot, atMs] = moment.split(" ");
  return boot === bootId() ? Math.max(0, machineUptimeMs() - Number(atMs)) : null;
}
