import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { defineCommand } from "citty";
import { runCommand } from "#scripts/support/command.ts";
import { freePort } from "#test/support/processes.ts";
import { type Call, corpus, deskToken, type Sample } from "./replay/corpus.ts";
import { reachOf } from "./replay/reach.ts";
import { steady } from "./replay/steady.ts";

/** What a call was answered, without what differs between two runs of the same code. */
type Answer = { status: number; headers: Record<string, string>; body: string };

const comparedHeaders = [
  "content-type",
  "cache-control",
  "location",
  "vary",
  "allow",
  "link",
  "content-security-policy",
  "ratelimit-policy",
  "access-control-allow-origin",
  "content-location",
  "content-language",
  "deprecation",
  "www-authenticate",
];
const startWaitMs = 180_000;
const restMs = 8_000;
const profilesDefault = 400;

export const command = defineCommand({
  meta: {
    name: "replay",
    description:
      "Sends the same requests to two checkouts on copies of one directory, and lists what they answer differently. Exit code 1: something differs.",
  },
  args: {
    before: {
      type: "positional",
      required: true,
      description: "A checkout with its packages installed",
    },
    after: { type: "positional", required: true, description: "Another one" },
    profiles: { type: "string", default: String(profilesDefault), description: "Of the sample" },
    json: { type: "boolean", description: "Each difference whole, a line each" },
  },
  run: async ({ args }) => {
    const folder = mkdtempSync(join(tmpdir(), "almoner-replay-"));
    try {
      const first = join(folder, "before");
      const port = await freePort();
      chainPort = await freePort();
      await run(resolve(args.before), first, port, [
        "scripts/seed.ts",
        "--profiles",
        args.profiles,
      ]);
      const second = join(folder, "after");
      // Both begin with what they have published, so that neither is asked while it builds.
      await run(resolve(args.before), first, port, ["scripts/publish.ts"]);
      await move(first, second, { from: resolve(args.before), to: resolve(args.after), port });
      await run(resolve(args.after), second, port, ["scripts/publish.ts"]);
      const before = await answersOf(resolve(args.before), first, port);
      const after = await answersOf(resolve(args.after), second, port);
      const differences = before.flatMap(({ call, answer }, at) => {
        const other = after[at]?.answer;
        return Bun.deepEquals(answer, other) ? [] : [{ call, before: answer, after: other }];
      });
      for (const one of differences) {
        console.log(args.json === true ? JSON.stringify(one) : inWords(one));
      }
      for (const line of reachOf(before)) console.log(line);
      console.log(`${before.length} requests, ${differences.length} answered differently`);
      process.exitCode = differences.length === 0 ? 0 : 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

let chainPort = 0;

const settings = (folder: string, port: number): Record<string, string> => ({
  ALMONER_DATA_DIR: folder,
  ALMONER_DATABASE_URL: `file:${join(folder, "store.db")}`,
  ALMONER_PORT: String(port),
  ALMONER_BASE_URL: `http://localhost:${port}`,
  ALMONER_READS_PER_MINUTE: "0",
  ALMONER_TRUSTED_HOPS: "1",
  ALMONER_CHAIN_PORT: String(chainPort),
  ALMONER_ADMIN_TOKENS: `ada:${deskToken}`,
  ALMONER_LOG_LEVEL: "error",
});

async function run(checkout: string, folder: string, port: number, words: string[]) {
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: checkout,
    env: { ...process.env, ...settings(folder, port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if ((await child.exited) !== 0) throw new Error(`${words.join(" ")} failed in ${checkout}`);
}

/** Moves a directory to another checkout as an operator does: the tables may be others there. */
async function move(
  first: string,
  second: string,
  { from, to, port }: { from: string; to: string; port: number },
): Promise<void> {
  const all = `${first}.ndjson`;
  await run(from, first, port, ["scripts/export.ts", "--all", "--out", all]);
  await run(to, second, port, ["scripts/import.ts", "all", all]);
  cpSync(first, second, {
    recursive: true,
    filter: (path) => !/^(?:store\.db|bundle|site)/.test(relative(first, path)),
  });
}

/** Starts a checkout on a folder, sends the whole corpus one call behind the other, and stops it. */
async function answersOf(checkout: string, folder: string, port: number) {
  const child = Bun.spawn([process.execPath, "scripts/start.ts"], {
    cwd: checkout,
    env: { ...process.env, ...settings(folder, port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const origin = `http://localhost:${port}`;
  try {
    await isReady(`${origin}/readyz`);
    await Bun.sleep(restMs);
    const sample = await sampleOf(origin);
    const answers: { call: Call; answer: Answer }[] = [];
    const memory: Record<string, string> = {};
    for (const call of corpus(sample)) {
      if (call.rest === true) await Bun.sleep(restMs);
      answers.push({
        call,
        answer: await send(call, { origin, port, memory, at: answers.length }),
      });
    }
    return answers;
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

async function isReady(url: string): Promise<void> {
  const endMs = performance.now() + startWaitMs;
  while ((await fetch(url).catch(() => null))?.ok !== true) {
    if (performance.now() > endMs) throw new Error(`${url} was not ready in time`);
    await Bun.sleep(200);
  }
}

/** The names of what stands in the directory. */
async function sampleOf(origin: string): Promise<Sample> {
  const read = async (path: string) => (await fetch(origin + path)).json();
  const { nonprofits } = (await read("/api/nonprofits?limit=60")) as {
    nonprofits: { slug: string; name: string; city: string | null; country: string }[];
  };
  const { nonprofits: thin } = (await read("/api/needs-enrichment?limit=40")) as {
    nonprofits: { slug: string }[];
  };
  const { causes } = (await read("/api/causes")) as { causes: { id: string }[] };
  return { nonprofits, thin: thin.map(({ slug }) => slug), causes: causes.map(({ id }) => id) };
}

type Sending = { origin: string; port: number; memory: Record<string, string>; at: number };

async function send(call: Call, { origin, port, memory, at }: Sending): Promise<Answer> {
  const filled = (text: string) => text.replaceAll(/<<(\w+)>>/g, (_, name) => memory[name] ?? name);
  if (call.raw !== undefined) return rawAnswer(await rawSent(port, filled(call.raw)));
  const headers: Record<string, string> = {
    // Each call comes from a network of its own, so that no limit but its own meets it.
    "x-forwarded-for": `10.${(at >> 8) & 255}.${at & 255}.1`,
    "user-agent": "replay",
    accept: "*/*",
    ...call.headers,
  };
  for (const name of Object.keys(headers)) headers[name] = filled(headers[name] ?? "");
  const body = call.body === undefined ? undefined : filled(call.body);
  const { method = "GET", path } = call;
  const answer = await fetch(origin + filled(path), {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const memorable = `${answer.headers.get("set-cookie") ?? ""}\n${text}`;
  Object.assign(memory, remembered(call.remember ?? {}, memorable));
  // A compressed snapshot holds instants.
  const isCompressed = /\.gz(?:\?|$)/.test(path);
  return {
    status: answer.status,
    headers: comparedOf(answer.headers),
    body: isCompressed ? "<compressed>" : steady(text),
  };
}

const remembered = (patterns: NonNullable<Call["remember"]>, text: string) =>
  Object.fromEntries(
    Object.entries(patterns).map(([name, pattern]) => [
      name,
      new RegExp(pattern).exec(text)?.[1] ?? "",
    ]),
  );

function comparedOf(headers: Headers): Record<string, string> {
  const compared = comparedHeaders.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, steady(value)]];
  });
  return Object.fromEntries(compared);
}

const rawSent = (port: number, bytes: string): Promise<string> =>
  new Promise((done) => {
    let text = "";
    const socket = createConnection(port, "127.0.0.1", () => void socket.write(bytes));
    socket.on("data", (part) => void (text += part.toString("latin1")));
    socket.on("close", () => done(text));
    socket.on("error", () => done(text));
    socket.setTimeout(5_000, () => socket.destroy());
  });

function rawAnswer(text: string): Answer {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(head.slice(9, 12)), headers: {}, body: steady(body) };
}

function inWords({
  call,
  before,
  after,
}: {
  call: Call;
  before: Answer;
  after?: Answer | undefined;
}) {
  const lines = [`${call.method ?? "GET"} ${call.path} ${JSON.stringify(call.headers ?? {})}`];
  if (before.status !== after?.status) lines.push(`  status ${before.status} -> ${after?.status}`);
  for (const name of comparedHeaders) {
    const old = before.headers[name];
    const now = after?.headers[name];
    if (old !== now) lines.push(`  ${name}: ${old} -> ${now}`);
  }
  return [...lines, ...bodiesInWords(before.body, after?.body ?? "")].join("\n");
}

/** Where two bodies part. */
function bodiesInWords(old: string, now: string): string[] {
  if (old === now) return [];
  let at = 0;
  while (at < old.length && old[at] === now[at]) at++;
  const from = Math.max(0, at - 60);
  return [`  body: …${old.slice(from, from + 160)}`, `     -> …${now.slice(from, from + 160)}`];
}

if (import.meta.main) await runCommand(command);
