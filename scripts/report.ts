import { defineCommand } from "citty";
import { isoTime, systemClock } from "#content/contract/base/time.ts";
import {
  oldestCall,
  openedByRank,
  recommendationFunnel,
} from "#content/recommendation/follow-through-store.ts";
import { type Report, asJson, asTable, sinceFrom } from "./report/funnel.ts";
import { runCommand } from "./support/command.ts";
import { configOrExit, openExistingStore, stopWith } from "./support/config.ts";

const command = defineCommand({
  meta: {
    name: "report",
    description:
      "Prints the funnel of recommendations: calls, profiles opened and payment requirements asked for within 60 s by the same user agent, donations recorded; by phase, intent and cause. Works while the service runs. What a CDN served counts once its access logs were imported (bun run import-hits).",
  },
  args: {
    since: {
      type: "string",
      description:
        "Only calls since: 30d, 12h, or a date like 2026-11-01 (UTC); default: all that are stored",
    },
    json: { type: "boolean", description: "Answer as JSON on standard output" },
  },
  run: async ({ args }) => {
    const now = systemClock();
    const asked = args.since === undefined ? -Infinity : sinceFrom(args.since, now);
    if (asked === null) stopWith("--since: give 30d, 12h, or a date like 2026-11-01.", 2);
    const config = configOrExit();
    using store = await openExistingStore(config, { busyWaitMs: 30_000 });
    const sinceMs = Math.max(asked, (await oldestCall(store)) ?? now.getTime());
    const report: Report = {
      since: isoTime(sinceMs),
      until: isoTime(now.getTime()),
      kept_days: config.recommendationLogDays,
      rows: await recommendationFunnel(store, sinceMs),
      ranks: await openedByRank(store, sinceMs),
    };
    console.log(args.json === true ? JSON.stringify(asJson(report)) : asTable(report));
  },
});

await runCommand(command);
