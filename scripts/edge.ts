import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineCommand } from "citty";
import { edgeParts, withParts } from "#site/delivery/edge-addresses.ts";
import { runCommand } from "./support/command.ts";

const folder = join(import.meta.dirname, "../site/delivery");

const command = defineCommand({
  meta: {
    name: "edge",
    description:
      "Writes the parts of site/delivery/edge that follow from the table of addresses: run it when that table changes.",
  },
  run: () => {
    for (const [file, parts] of Object.entries(edgeParts)) {
      const path = join(folder, file);
      writeFileSync(path, withParts(readFileSync(path, "utf8"), parts));
      console.log(`site/delivery/${file}`);
    }
  },
});

await runCommand(command);
