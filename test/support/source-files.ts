import { Glob } from "bun";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The text of each source file of the four floors, by its path from the root. */
export const sourceTexts = new Map<string, string>();
for (const floor of ["content", "api", "site", "scripts"]) {
  for await (const file of new Glob(`${floor}/**/*.{ts,astro}`).scan(root))
    sourceTexts.set(file, await Bun.file(join(root, file)).text());
}
