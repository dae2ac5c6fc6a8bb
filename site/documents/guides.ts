import { readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "#content/contract/base/version.ts";

const folder = join(import.meta.dirname, "../../content/editorial/guides");

/** What the directory is, in one sentence for models. */
const purpose =
  "An open directory of nonprofits: search it, read profiles, get recommendations with reasons, and complete missing data.";

/**
 * A guide, named by its file in content/editorial/guides, with its {{places}} filled. Throws for a place that no one fills: a
 * slip of the pen.
 */
export const filledGuide = (file: string, values: Readonly<Record<string, string>>): string =>
  readFileSync(join(folder, file), "utf8").replaceAll(/\{\{(\w+)\}\}/g, (_, place: string) => {
    const value = values[place];
    if (value === undefined) throw new Error(`a guide has the place ${place}, and nothing for it`);
    return value;
  });

/** A guide in which nothing stands that changes with the data. */
export const fixedGuide = (file: string, baseUrl: string): string => {
  const { hostname: host } = new URL(baseUrl);
  const reversed_host = host.split(".").toReversed().join(".");
  return filledGuide(file, { base_url: baseUrl, host, reversed_host, purpose, version });
};
