import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The paths of all files under a folder. */
export function* everyPath(folder: string, below = ""): Generator<string> {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* everyPath(folder, path);
    else yield path;
  }
}
