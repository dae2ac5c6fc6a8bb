import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Digest over the names and contents of files of a folder, in this order: 64 hexadecimal digits. */
export function digestOfFiles(folder: string, paths: readonly string[]): string {
  const whole = createHash("sha256");
  for (const path of paths) {
    const body = readFileSync(join(folder, path));
    whole.update(`${path}\0${body.length}\0`).update(body);
  }
  return whole.digest("hex");
}
