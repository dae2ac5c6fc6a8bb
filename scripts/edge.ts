import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { edgeParts, withParts } from "#site/delivery/edge-addresses.ts";
import { runCommand, wordedCommand } from "./support/command.ts";

const folder = join(import.meta.dirname, "../site/delivery");

export const command = wordedCommand("edge", {
  run: () => {
    for (const [file, parts] of Object.entries(edgeParts)) {
      const path = join(folder, file);
      writeFileSync(path, withParts(readFileSync(path, "utf8"), parts));
      console.log(`site/delivery/${file}`);
    }
  },
});

if (import.meta.main) await runCommand(command);
