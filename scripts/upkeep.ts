import { defineCommand } from "citty";
import { openLog } from "#api/log.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { contactKeptMs, eraseRejectedContacts } from "#content/correction/request-store.ts";
import { compactActivity } from "#content/operation/activity-store.ts";
import { compactStore } from "#content/store/file-work.ts";
import { filePathOf } from "#content/store/embedded-client.ts";
import { runCommand } from "./support/command.ts";
import { configOrExit, openExistingStore } from "./support/config.ts";
import { bytesUnder, pruneBundle, removeLeftovers } from "./upkeep/tidy.ts";

const command = defineCommand({
  meta: {
    name: "upkeep",
    description:
      "Frees room, also beside a running service: counts of old hours become counts of days, contacts that agents sent and that were rejected 90 days ago are erased, the store gives back what deleted rows held, its log is emptied, and releases, blobs, compiled sites and remnants that nothing needs go. Says how many bytes that freed.",
  },
  args: {
    compact: {
      type: "boolean",
      description:
        "Compact the store however little that frees: writes wait meanwhile, about a second for 100 MB",
    },
    json: { type: "boolean", description: "Answer as JSON on standard output" },
    quiet: { type: "boolean", description: "Say nothing but what goes wrong" },
  },
  run: async ({ args }) => {
    const config = configOrExit();
    const { dataDir, databaseUrl } = config;
    const now = systemClock();
    const bytesBefore = bytesUnder(dataDir);
    const { hours_joined, contacts_erased } = await tidyStore(config, now);
    const pruned = await pruneBundle(config, openLog(config));
    const removed = await removeLeftovers(dataDir, now);
    // Last: where others hold the store, it is left for the next time, and all else is done.
    const compacted =
      databaseUrl.startsWith("file:") &&
      (await compactStore(filePathOf(databaseUrl), { always: args.compact === true }));
    const freed_bytes = Math.max(0, bytesBefore - bytesUnder(dataDir));
    const outcome = { freed_bytes, hours_joined, contacts_erased, compacted, pruned, removed };
    if (args.json === true) console.log(JSON.stringify(outcome));
    else if (args.quiet !== true) {
      console.log(
        [
          `${freed_bytes.toLocaleString("en")} bytes freed.`,
          `${hours_joined} counts of hours became counts of days.`,
          `${contacts_erased} contacts that agents sent, rejected 90 days ago, were erased.`,
          compacted ? "The store was compacted." : "The store needed no compacting.",
          pruned
            ? "Releases and blobs that nothing needs are gone."
            : "The running publisher forgets old releases itself, every minute.",
          ...removed.map((path) => `Removed: ${path}`),
        ].join("\n"),
      );
    }
  },
});

async function tidyStore(config: ReturnType<typeof configOrExit>, now: Date) {
  using store = await openExistingStore(config);
  const before = now.getTime() - contactKeptMs;
  const erased = await store.write((tx) => eraseRejectedContacts(tx, before));
  return { hours_joined: await compactActivity(store, now), contacts_erased: erased.length };
}

await runCommand(command);
