import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../content/editorial/guides");

/** A guide of content/editorial with its {{places}} filled. Throws for a place that nobody fills: a slip of the pen. */
export function openGuide(name: string): (values: Readonly<Record<string, string>>) => string {
  const text = readFileSync(join(folder, name), "utf8");
  return (values) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, place: string) => {
      const value = values[place];
      if (value === undefined) throw new Error(`${name}: nothing to put in the place ${place}`);
      return value;
    });
}
