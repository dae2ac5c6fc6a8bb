import { statSync } from "node:fs";
import { dailyHashKeyOf } from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { countLog, type LogReport } from "./import-hits/count-log.ts";
import { flag, positional, runCommand, wordedCommand } from "./support/command.ts";
import { configOrExit, openExistingStore, stopWith } from "./support/config.ts";

export const command = wordedCommand("import-hits", {
  args: {
    files: positional,
    all: flag,
    json: flag,
  },
  run: async ({ args }) => {
    const files = args._;
    const missing = files.find((file) => !statSync(file, { throwIfNoEntry: false })?.isFile());
    if (missing !== undefined) stopWith(`${missing}: no such file.`);
    const config = configOrExit();
    using store = await openExistingStore(config, { busyWaitMs: 5_000 });
    const dailyHashKey = dailyHashKeyOf(config);
    const options = { all: args.all === true, now: systemClock(), dailyHashKey };
    const reports: LogReport[] = [];
    try {
      for (const file of files) reports.push(await countLog(store, file, options));
    } catch (error) {
      console.error(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    }
    console.log(args.json === true ? JSON.stringify(reports) : reports.map(inWords).join("\n"));
  },
});

function inWords({ file, lines, unread, hits, follow_throughs }: LogReport): string {
  const counts = Object.entries(hits).map(
    ([kind, count]) => `${count} ${kind.replace("hit:", "")}`,
  );
  const hitsText = counts.length === 0 ? "no hits" : counts.join(", ");
  const followed = follow_throughs > 0 ? `, ${follow_throughs} follow-throughs` : "";
  return `${file}: ${lines} new lines, ${hitsText}${followed}${unread > 0 ? `; ${unread} lines were not understood` : ""}`;
}

if (import.meta.main) await runCommand(command);
