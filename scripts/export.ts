import { createWriteStream, renameSync, rmSync } from "node:fs";
import { once } from "node:events";
import { defineCommand } from "citty";
import { openStore } from "#content/store/open.ts";
import { exportRecords } from "./export/export-records.ts";
import { configOrExit, stopSignal, stopWith } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";
import { runCommand } from "./support/command.ts";

const args = {
  out: {
    type: "string",
    description: "File to write; without it the records go to standard output",
  },
  "with-contact-emails": {
    type: "boolean",
    description: "Include e-mail addresses, which are never public",
  },
} as const;

const command = defineCommand({
  meta: {
    name: "export",
    description:
      "Writes the whole directory as NDJSON, one record a line. `import ndjson` into an empty store makes the same directory.",
  },
  args,
  run: async ({ args: asked }) => {
    const config = configOrExit();
    const store = await openStore({ url: config.databaseUrl, authToken: config.databaseToken });
    const file = asked.out === undefined ? null : `${asked.out}.part-${process.pid}`;
    const out = file === null ? process.stdout : createWriteStream(file, { flush: true });
    const failed = once(out, "error").then(([error]: unknown[]) => {
      throw error;
    });
    failed.catch(() => undefined);
    const progress = startProgress("exporting", 0);
    const signal = stopSignal();
    let count = 0;
    try {
      const asks = { contactEmails: asked["with-contact-emails"] === true };
      for await (const lines of exportRecords(store, asks)) {
        if (signal.aborted) throw new Error("interrupted");
        count += lines.length;
        progress.at(count);
        if (!out.write(`${lines.join("\n")}\n`)) await Promise.race([once(out, "drain"), failed]);
      }
      if (file !== null) {
        out.end();
        await Promise.race([once(out, "finish"), failed]);
        renameSync(file, asked.out ?? file);
      }
      progress.end();
      console.error(`${count.toLocaleString("en")} records`);
    } catch (error) {
      progress.end();
      if (file !== null) rmSync(file, { force: true });
      stopWith(`export: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      store.close();
    }
  },
});

await runCommand(command);
