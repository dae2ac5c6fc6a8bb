import { dailyNumbers, daysMax, operatorHealth } from "#api/operator/health.ts";
import { systemClock } from "#content/contract/time.ts";
import { bundleExists } from "#site/bundle/manifest.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { openBundleReader, publicationOf } from "#site/delivery/bundle-reader.ts";
import { stopWith } from "../support/config.ts";
import { withStore } from "./commands.ts";

type Output = { json?: boolean | undefined };

/** `bun run review health`: the chain is left out, because the service holds its connection. */
export async function healthShown(args: Output) {
  await withStore(async (store, { dataDir, webhookUrls }) => {
    const { bundle } = publisherFolders(dataDir);
    const reader = bundleExists(bundle) ? openBundleReader(bundle) : null;
    const publication = reader === null ? null : () => publicationOf(reader);
    const context = { store, clock: systemClock, publication, chain: null, dataDir, webhookUrls };
    const { warnings, at, ...health } = await operatorHealth(context);
    reader?.close();
    if (args.json === true) console.log(JSON.stringify({ at, warnings, ...health }));
    else {
      for (const [name, value] of Object.entries(health)) {
        console.log(
          `${name.padEnd(14)}${value === null ? "not known here" : JSON.stringify(value)}`,
        );
      }
      for (const warning of warnings) console.log(`! ${warning}`);
    }
    if (warnings.length > 0) process.exitCode = 1;
  });
}

/** `bun run review numbers`. */
export async function numbersShown(args: { days: string } & Output) {
  const days = Number(args.days);
  if (!Number.isInteger(days) || days < 1 || days > daysMax) {
    stopWith(`--days: give a whole number from 1 to ${daysMax}.`, 2);
  }
  await withStore(async (store) => {
    const numbers = await dailyNumbers({ store, clock: systemClock }, days);
    if (args.json === true) {
      console.log(JSON.stringify(numbers));
      return;
    }
    for (const [name, values] of Object.entries(numbers)) {
      console.log(
        `${name.padEnd(18)}${values.map((value) => String(value).padStart(10)).join(" ")}`,
      );
    }
  });
}
