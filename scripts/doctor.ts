import { existsSync } from "node:fs";
import type { Config } from "#api/config.ts";
import { findService } from "#api/operator/running-service.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import { PublisherBusy, takePublisherLock } from "#site/publisher/lock.ts";
import { examine, type Finding } from "./doctor/examine.ts";
import { flag, print, runCommand, wordedCommand } from "./support/command.ts";
import { configOrExit } from "./support/config.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";

export const command = wordedCommand("doctor", {
  args: {
    repair: flag,
    json: flag,
  },
  run: async ({ args }) => {
    const config = configOrExit({ opens: false });
    const repair = args.repair === true;
    const running = repair ? await findService(config.dataDir) : null;
    if (running !== null) throw inUse(`The service runs at ${running}.`);
    const place = repair ? publishersPlace(config) : null;
    const findings = await examine(config, { now: systemClock(), repair });
    place?.close();
    const ok = findings.every(({ repaired }) => repaired);
    print(args, { ok, findings }, () => linesOf(findings));
    if (!ok) process.exitCode = 1;
  },
});

const inUse = (what: string): CannotStart =>
  new CannotStart(what, "Stop it, then run doctor --repair again.");

/** Locks out publishers while files are repaired; null when there is no bundle. Throws CannotStart if one runs. */
function publishersPlace({ dataDir }: Config): { close(): void } | null {
  const { bundle } = publisherFolders(dataDir);
  try {
    return existsSync(bundle) ? takePublisherLock(bundle) : null;
  } catch (error) {
    if (!(error instanceof PublisherBusy)) throw error;
    throw inUse(`A publisher works on ${dataDir}.`);
  }
}

const linesOf = (findings: readonly Finding[]): string[] =>
  findings.length === 0
    ? ["All is well."]
    : findings.flatMap(({ check, found, remedy, repaired }) => [
        `${check}: ${found}`,
        `  ${repaired ? "Repaired. " : ""}${remedy}`,
      ]);

if (import.meta.main) await runCommand(command);
