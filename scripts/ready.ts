import { existsSync } from "node:fs";
import { join } from "node:path";
import probes from "#content/editorial/ready.json";
import { filePathsFor, headersOf } from "#site/delivery/http-headers.ts";
import { flag, print, runCommand, textOption, wordedCommand } from "./support/command.ts";
import { stopWith } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";

/**
 * The expected answer of an address: its status (200 by default), the start of its type, and patterns of its text. {slug}
 * is a nonprofit of the directory, {payable} one that takes USDC. `service`: the answer is not a file.
 */
type Probe = (typeof probes)[number];

const timeoutMs = 20_000;

export const command = wordedCommand("ready", {
  args: { url: textOption, dir: textOption, json: flag },
  run: async ({ args }) => {
    const { url = "", dir } = args;
    if (dir === undefined && !URL.canParse(url))
      stopWith("Give --url, the origin of a directory like https://almoner.example, or --dir.", 2);
    if (dir !== undefined && !existsSync(dir)) stopWith(`--dir: there is no folder ${dir}.`, 2);
    const read = (path: string, request: Partial<Probe> = {}): Promise<Response> =>
      dir === undefined ? ask(new URL(path, url), request) : fileIn(dir, path);
    const slug = await slugIn(read("/api/nonprofits"));
    const payable = await slugIn(read("/api/nonprofits?accepts=usdc&limit=1"));
    const progress = startProgress("Probing", probes.length);
    const findings: { name: string; path: string; result: string }[] = [];
    for (const probe of probes) {
      const path = probe.path.replace("{slug}", slug).replace("{payable}", payable);
      const result = notProbed(probe, path, dir) ?? (await judged(read(path, probe), probe));
      progress.at(findings.push({ name: probe.name, path, result }));
    }
    progress.end();
    const wrong = findings.filter(({ result }) => !/^(?:ok$|not probed)/.test(result)).length;
    print(args, { ready: wrong === 0, findings }, () => [
      ...findings.map(({ name, path, result }) => name.padEnd(28) + `${path} `.padEnd(44) + result),
      wrong === 0 ? "Ready." : `${wrong} of ${findings.length} are not as they should be.`,
    ]);
    if (wrong > 0) process.exitCode = 1;
  },
});

/** "ok", or what is wrong with an answer. */
async function judged(pending: Promise<Response>, { status = 200, type = "", has }: Probe) {
  try {
    const answer = await pending;
    const header = (name: string) => answer.headers.get(name) ?? "";
    // The x402 payment requirements are in a header, in base64.
    const text = (await answer.text()) + atob(header("payment-required"));
    const isType = header("content-type");
    if (answer.status !== status) return `answers ${answer.status}, not ${status}`;
    if (!isType.startsWith(type)) return `is ${isType}, not ${type}`;
    const lacking = has.find((pattern) => !new RegExp(pattern, "m").test(text));
    return lacking === undefined ? "ok" : `lacks ${lacking}`;
  } catch (error) {
    return `does not answer: ${String(error)}`;
  }
}

function notProbed({ service }: Probe, path: string, dir: string | undefined): string | null {
  if (dir !== undefined && service) return "not probed: needs the service";
  return path.includes("{") ? "not probed: there is no such nonprofit" : null;
}

/** The slug of the first nonprofit in a list; "{none}" for an empty list. */
async function slugIn(list: Promise<Response>): Promise<string> {
  const text = await list.then((answer) => answer.text()).catch(() => "");
  return /"slug":"([^"]+)"/.exec(text)?.[1] ?? "{none}";
}

const ask = (address: URL, { headers, post }: Partial<Probe>): Promise<Response> =>
  fetch(address, {
    ...(post === undefined ? {} : { method: "POST", body: JSON.stringify(post) }),
    headers: { accept: "*/*", "content-type": "application/json", ...headers },
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });

/** Answers with a file as a web server would. */
async function fileIn(folder: string, path: string): Promise<Response> {
  for (const name of filePathsFor(path)) {
    const file = Bun.file(join(folder, name));
    const headers = { "content-type": headersOf(name).contentType };
    if (await file.exists()) return new Response(file, { headers });
  }
  return new Response(null, { status: 404 });
}

if (import.meta.main) await runCommand(command);
