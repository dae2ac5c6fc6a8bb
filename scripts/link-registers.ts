import { systemClock } from "#content/contract/base/time.ts";
import { linkRegisters } from "#content/register/link-registers.ts";
import { flag, print, runCommand, wordedCommand } from "./support/command.ts";
import { configOrExit, openExistingStore, stopSignal } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";

export const command = wordedCommand("link-registers", {
  args: {
    check: flag,
    json: flag,
  },
  run: async ({ args }) => {
    using store = await openExistingStore(configOrExit(), { busyWaitMs: 60_000 });
    const checkOnly = args.check === true;
    const linking = { store, clock: systemClock, signal: stopSignal(), checkOnly };
    const progress = startProgress("linking", 0);
    const links = await linkRegisters(linking, null, (done) => progress.at(done));
    progress.end();
    const pairs = links.map(({ kept, gone, source, waits }) => ({
      kept: kept.slug,
      gone: gone.slug,
      org_ids: [...kept.org_ids, ...gone.org_ids],
      source,
      waits,
    }));
    const waiting = pairs.filter(({ waits }) => waits).length;
    const report = { checked_only: checkOnly, linked: pairs.length - waiting, waiting, pairs };
    const words = checkOnly ? ["would be linked", "would wait"] : ["linked", "wait"];
    print(args, report, ({ linked }) => [
      ...pairs.map(
        ({ kept, gone, source, waits }) =>
          `${gone} -> ${kept} (${source})${waits ? ", waits for an operator" : ""}`,
      ),
      `${linked} ${words[0]}, ${waiting} ${words[1]} for an operator.`,
    ]);
  },
});

if (import.meta.main) await runCommand(command);
