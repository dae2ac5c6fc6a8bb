import { afterAll, expect, test } from "bun:test";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { clientsInstalled, countTokens } from "#test/support/clients.ts";
import type { Call } from "#api/mcp/call.ts";
import { mcpServer } from "#api/mcp/server.ts";
import { type ArgumentSchema, listedAt, type McpTool } from "#content/openapi/mcp-tools.ts";
import { aRichNonprofit } from "#test/support/compiled-site.ts";
import { isFull } from "#test/support/measured.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

// A client that knows the descriptions and cannot spell. Each call is one that works, with one thing done to it.

const callsWanted = isFull ? 5_000 : 200;
const origin = "https://almoner.example";

let asked: Call[] = [];
const service = await theService({
  env: { ALMONER_READS_PER_MINUTE: "0", ALMONER_BASE_URL: origin },
  records: [
    aNonprofit({ slug: "hope-kitchen", name: "Hope Kitchen" }),
    aNonprofit({ slug: "well-of-life", name: "Well of Life" }),
    ...Array.from({ length: 10 }, (_, at) =>
      aRichNonprofit({
        slug: `lantern-school-of-the-lake-region-${at}`,
        name: `Lantern School of the Lake Region ${at}`,
        registrations: [],
      }),
    ),
  ],
});
const [here, there] = InMemoryTransport.createLinkedPair();
const ask = async (call: Call) => {
  asked.push(call);
  const { method, path, body } = call;
  if (method === "GET" && !path.startsWith("/api/donate")) return service.get(path);
  if (path.startsWith("/reconcile")) return service.post(path, body);
  // What is written or paid is only looked at here; it would be refused for a slug that no one has.
  const { slug = "hope-kitchen" } = (body ?? {}) as { slug?: string };
  return slug === "hope-kitchen" && /gaps$|hope-kitchen\b/.test(path)
    ? Response.json({ message: "ok" })
    : service.get("/api/nonprofits/hope-kichen");
};
await mcpServer({ ask, origin, door: "default" }).connect(here);
const client = new Client({ name: "clumsy", version: "1.0.0" });
await client.connect(there);
afterAll(() => client.close());

/** A generator of Lehmer: the same numbers each time. */
let seed = 20_261_126;
const below = (count: number): number => (seed = (seed * 48_271) % 2_147_483_647) % count;
const pick = <One>(all: readonly One[]): One => all[below(all.length)] as One;

const writtenForms: readonly ((name: string) => string)[] = [
  (name) => name.slice(0, -1),
  (name) => `${name}s`,
  (name) => name.replace(/(.)(.)$/, "$2$1"),
  (name) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  (name) => name.replaceAll("_", "-"),
  (name) => name.toUpperCase(),
  (name) => `${name.slice(0, 3)}${name.slice(4)}`,
];

/** The example in the description of an argument. */
function exampleOf({ type, description = "" }: ArgumentSchema): unknown {
  const [, text = ""] = /e\.g\. (.+?)(?:; .*)?$/.exec(description) ?? [];
  if (type === "boolean") return text === "true";
  if (type === "number" || type === "integer") return Number(text);
  return type === "array" ? JSON.parse(text) : text;
}

type Args = Record<string, unknown>;
/** A call that works, with what it is good for where several do not go together. */
function goodCalls(): { tool: McpTool; args: Args }[] {
  return listedAt("default").flatMap((tool) => {
    const { properties } = tool.listed.inputSchema;
    const all = Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)]),
    );
    if (tool.name !== "report") return [{ tool, args: all }];
    const { looked_for, what_is_wrong, suggested_value, source_url, contact_email, ...about } = all;
    const { slug, field } = about;
    const wrong = { slug, field, what_is_wrong, suggested_value, source_url, contact_email };
    return [
      { tool, args: { ...about, kind: "gap", looked_for } },
      { tool, args: { kind: "wrong_value", ...wrong } },
    ];
  });
}

type Clumsy = {
  name: string;
  args: Args;
  /** What a refusal has to name: it would have worked. */
  wanted: string;
  /** Whether it may be taken, when it asks for the very same. */
  mayPass: boolean;
};
type Rule = (call: { tool: McpTool; args: Args }) => Clumsy | null;

const renamed = (args: Args, from: string, to: string): Args =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name === from ? to : name, value]),
  );

const withOne = (
  { tool, args }: { tool: McpTool; args: Args },
  change: (value: unknown, schema: ArgumentSchema, name: string) => unknown,
  mayPass: boolean,
): Clumsy | null => {
  const name = pick(Object.keys(args));
  if (name === undefined) return null;
  const value = change(args[name], tool.listed.inputSchema.properties[name] ?? {}, name);
  if (value === undefined || value === args[name]) return null;
  return { name: tool.name, args: { ...args, [name]: value }, wanted: name, mayPass };
};

/** The value, if it is one of a list that is described or known otherwise. */
const listed = (value: unknown, { enum: values }: ArgumentSchema, name: string) =>
  values !== undefined || ["cause", "country"].includes(name) ? String(value) : undefined;

const rules: Record<string, Rule> = {
  "the tool misspelt": ({ tool, args }) => {
    const name = pick(writtenForms)(tool.name);
    return name === tool.name ? null : { name, args, wanted: tool.name, mayPass: false };
  },
  "an argument misspelt": ({ tool, args }) => {
    const right = pick(Object.keys(args));
    if (right === undefined) return null;
    const wrong = pick(writtenForms)(right);
    if (wrong === right || wrong in args) return null;
    return { name: tool.name, args: renamed(args, right, wrong), wanted: right, mayPass: true };
  },
  "an argument by another name": ({ tool, args }) => {
    const [right, wrong] = pick([
      ["q", "query"],
      ["q", "name"],
      ["slug", "name"],
      ["slug", "id"],
      ["amount", "amount_usdc"],
      ["amount", "usd"],
      ["country", "country_code"],
      ["claimed", "verified"],
      ["tx_signature", "signature"],
      ["limit", "per_page"],
    ]);
    if (!(right in args)) return null;
    return { name: tool.name, args: renamed(args, right, wrong), wanted: right, mayPass: true };
  },
  "an argument that is not there": ({ tool, args }) => {
    const more = pick(["format", "page", "language", "currency", "token", "constructor"]);
    const wanted = Object.keys(tool.listed.inputSchema.properties)[0] ?? "There is none";
    return { name: tool.name, args: { ...args, [more]: "x" }, wanted, mayPass: false };
  },
  "one value under two names": ({ tool, args }) => {
    const [right, other] = pick([
      ["q", "query"],
      ["amount", "amount_usdc"],
      ["country", "country_code"],
    ]);
    if (!(right in args)) return null;
    return { name: tool.name, args: { ...args, [other]: 7 }, wanted: right, mayPass: false };
  },
  "a required argument left out": ({ tool, args }) => {
    const right = pick(tool.listed.inputSchema.required ?? []);
    if (right === undefined) return null;
    const { [right]: _, ...rest } = args;
    return { name: tool.name, args: rest, wanted: right, mayPass: false };
  },
  "a number or flag as text": (call) =>
    withOne(call, (value) => (typeof value === "object" ? undefined : String(value)), true),
  "a value of another type": (call) =>
    withOne(
      call,
      (value, { type }) => pick([[value], { value }, type === "string" ? 7 : "seven"]),
      false,
    ),
  "a value in other letters": (call) =>
    withOne(call, (...which) => listed(...which)?.toUpperCase(), true),
  "a value of a list misspelt": (call) =>
    withOne(call, (...which) => listed(...which)?.slice(1), false),
  "a slug misspelt": ({ tool: { name }, args }) => {
    if (!("slug" in args)) return null;
    const misspelt = { ...args, slug: "hope-kichen" };
    return { name, args: misspelt, wanted: "hope-kitchen", mayPass: true };
  },
  "an amount of money in words": ({ tool, args }) => {
    if (!("amount" in args)) return null;
    const amount = pick(["2.5 USDC", "$2.5", "2,5", "two", -2.5, 0, 1e12, [2.5], null, "", true]);
    return { name: tool.name, args: { ...args, amount }, wanted: "amount", mayPass: false };
  },
};

async function answerTo({ name, args }: Pick<Clumsy, "name" | "args">) {
  asked = [];
  try {
    const { isError, content } = await client.callTool({ name, arguments: args });
    return { isRefused: isError === true, text: JSON.stringify(content) };
  } catch (error) {
    return { isRefused: true, text: String(error) };
  }
}

test(`of ${callsWanted} clumsy calls none means something else in silence, and refusals say what would do`, async () => {
  const good = goodCalls();
  const meant = new Map<object, string>();
  for (const { tool, args } of good) {
    const { isRefused, text } = await answerTo({ name: tool.name, args });
    expect([tool.name, isRefused, text]).toEqual([tool.name, false, text]);
    meant.set(args, JSON.stringify(asked.at(-1)).toLowerCase());
  }
  const [changed, unhelpful]: [unknown[], unknown[]] = [[], []];
  let calls = 0;
  let refusals = 0;
  while (calls < callsWanted) {
    const call = pick(good);
    const [rule, clumsyOf] = pick(Object.entries(rules));
    const clumsy = clumsyOf(call);
    if (clumsy === null) continue;
    calls++;
    const { isRefused, text } = await answerTo(clumsy);
    const facts = [rule, clumsy.name, clumsy.args, text.slice(0, 300)];
    if (!isRefused) {
      const isSame = JSON.stringify(asked.at(-1)).toLowerCase() === meant.get(call.args);
      if (!clumsy.mayPass || !isSame) changed.push(facts);
    } else {
      refusals++;
      if (!text.includes(clumsy.wanted)) unhelpful.push(facts);
    }
  }
  expect(changed).toEqual([]);
  if (unhelpful.length / refusals > 0.05) expect(unhelpful).toEqual([]);
  expect(refusals).toBeGreaterThan(callsWanted / 3);
});

test.skipIf(!clientsInstalled)(
  "ten nonprofits take at most 1,500 tokens, in words and as an object together",
  async () => {
    const args = { name: "search_nonprofits", arguments: { q: "lantern school" } };
    const { content, structuredContent } = await client.callTool(args);
    const [first] = content as { text: string }[];
    const text = first?.text ?? "";
    expect(text).toContain("- lantern-school-of-the-lake-region-0 · Lantern School of the Lake");
    expect(structuredContent).toMatchObject({ count: 10, nonprofits: { length: 10 } });
    expect(JSON.stringify(structuredContent)).not.toContain("null");
    expect(await countTokens(text + JSON.stringify(structuredContent))).toBeLessThan(1_500);
  },
);

test("a resource that cannot be read now is not said to be gone", async () => {
  const [hereLimited, thereLimited] = InMemoryTransport.createLinkedPair();
  const refusal = { code: "rate_limited", detail: "At most 3 requests a minute." };
  const limited = async () => Response.json(refusal, { status: 429 });
  await mcpServer({ ask: limited, origin, door: "default" }).connect(hereLimited);
  const reader = new Client({ name: "limited", version: "1.0.0" });
  await reader.connect(thereLimited);
  const refused = String(await reader.readResource({ uri: "almoner://stats" }).catch(String));
  expect(refused).toContain(refusal.detail);
  await reader.close();
});
