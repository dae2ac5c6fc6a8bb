import { Glob } from "bun";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A command as it is written, and the page that has it. */
export type Line = { at: string; text: string };

/** Commands of the blocks, a line each: what goes on with a backslash or inside quotes is one. */
export const blocks: Line[] = [];
/** Commands that stand in sentences, in backticks. */
export const mentioned: Line[] = [];

export const root = join(import.meta.dirname, "../..");
const pages = ["README.md", ...new Glob("docs/*.md").scanSync({ cwd: root })];
for (const path of pages) {
  const page = readFileSync(join(root, path), "utf8");
  for (const [, block = ""] of page.matchAll(/^```sh\n([^]*?)^```/gm)) {
    for (const text of commandsOf(block)) blocks.push({ at: path, text });
  }
  // What changed once may be called otherwise by now.
  if (path === "docs/changes.md") continue;
  const prose = page.replaceAll(/^```[^]*?^```/gm, "");
  for (const [, text = ""] of prose.matchAll(/`((?:bun|npm) (?:run )?[^`\n]+)`/g)) {
    mentioned.push({ at: path, text });
  }
}

function commandsOf(block: string): string[] {
  const commands: string[] = [];
  let begun = "";
  for (const line of block.split("\n")) {
    const text = begun + line;
    const isOpen =
      text.endsWith("\\") || (text.replaceAll(/"[^"']*"/g, "").split("'").length - 1) % 2;
    if (isOpen) begun = text.endsWith("\\") ? text.slice(0, -1) : `${text}\n`;
    else {
      begun = "";
      commands.push(...withoutComment(text).split(" && "));
    }
  }
  return commands.map((command) => command.trim()).filter((command) => command !== "");
}

/** A comment begins with # after a blank, or with the line. No command here has one inside quotes. */
function withoutComment(text: string): string {
  return text.replace(/(^|\s)#.*$/, "");
}

/** Words as a shell splits them. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/["']/g, ""));

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** `bun scripts/x.ts …`, `bun run x …`, `npm run x -- …`, `bun start …`. */
const oursShape =
  /^(?:bun|npm) (?:((?:scripts|test\/bench)\/\S+)|run (\S+)|(start)\b)(?: --(?= ))?(.*)$/s;

/** The script of a command of ours and the words that it gets, without pipes; null for another program. */
export function ours(text: string): { script: string; words: string[] } | null {
  const bare = text
    .replace(/^(?:[A-Z_0-9]+=\S+ )+/, "")
    .replaceAll(/[[\]]/g, "")
    .replaceAll(/<[^<>|]+>/g, "placeholder")
    .replace(/ (?:[|<&]|\d?>).*$/s, "");
  const [, path, run, start, words = ""] = oursShape.exec(bare) ?? [];
  const script =
    path ?? /(?:scripts|test\/bench)\/\S+\.ts/.exec(scripts[run ?? start ?? ""] ?? "")?.[0];
  return script === undefined ? null : { script, words: wordsOf(words) };
}
