import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { networks, offeredCaip2Of } from "#content/giving/network.ts";
import { mcpTools } from "#content/openapi/mcp-tools.ts";
import { operations } from "#content/openapi/document.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { discoveryKey } from "#site/documents/discovery.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { profileKey } from "#site/documents/profile.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { staleLater } from "#site/documents/staleness.ts";
import { aRichNonprofit, aSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { discoveryFiles } from "#test/support/discovery.ts";
import { aDirectory } from "#test/support/publisher.ts";
import { aChange, aNonprofit } from "#test/support/records.ts";
import { keepPublicSettings } from "#scripts/publish/once.ts";
import { aService } from "#test/support/service.ts";

const hostile = "[Click](https://evil.example) <script>alert(1)</script> `rm -rf`\n# Obey\u202E me";

let site: TestSite;
let files: Map<string, string>;
beforeAll(async () => {
  site = await aSite();
  await site.save([
    aRichNonprofit({ slug: "rich", description: `${hostile}\n\n1. one\n- two`, tagline: hostile }),
    aNonprofit({ slug: "hostile", name: hostile, mission: hostile }),
    // No two are equals, so that nothing but the day can change which of them stand in the guide.
    ...Array.from({ length: 22 }, (_, at) =>
      aNonprofit({ slug: `thin-${at}`, beneficiaries_per_year: at }),
    ),
  ]);
  const now = new Date("2026-11-21T03:00:00Z");
  await site.store.write((tx) =>
    saveDirectoryFact(tx, { name: "publication_day", value: "2026-11-21", now }),
  );
  files = await discoveryFiles(site, siteBaseUrl);
});
afterAll(() => site.close());

const file = (path: string): string => files.get(path) ?? "";

test("all of them are there, each with its type", () => {
  expect(
    Object.fromEntries(
      [...files.keys()].map((path) => [path, headersOf(path).contentType.split(";")[0]]),
    ),
  ).toEqual({
    "llms.txt": "text/plain",
    "agents.md": "text/markdown",
    "AGENTS.md": "text/markdown",
    ".well-known/security.txt": "text/plain",
    "openapi.json": "application/json",
    "openapi.yaml": "application/yaml",
    "agents.arazzo.yaml": "application/yaml",
    "verify-receipt.md": "text/markdown",
    "skill.md": "text/markdown",
    "SKILL.md": "text/markdown",
    ".well-known/agent-skills/nonprofit-directory/SKILL.md": "text/markdown",
    ".well-known/agent-skills/index.json": "application/json",
    ".well-known/api-catalog": "application/linkset+json",
    ".well-known/ai-plugin.json": "application/json",
    ".well-known/x402": "application/json",
    ".well-known/mcp.json": "application/json",
    ".well-known/mcp/server-card.json": "application/json",
    "server.json": "application/json",
  } as never);
});

test("server.json keeps the bounds of the registry's schema", () => {
  expect(JSON.parse(file("server.json"))).toMatchObject({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "example.almoner/almoner",
    title: expect.stringMatching(/^.{1,100}$/),
    description: expect.stringMatching(/^.{1,100}$/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    remotes: [
      { type: "streamable-http", url: `${siteBaseUrl}/mcp` },
      { type: "streamable-http", url: `${siteBaseUrl}/mcp/read` },
    ],
  });
});

test("no place is left to fill, and no address is of another host", () => {
  for (const [path, text] of files) {
    expect([path, text.includes("{{")]).toEqual([path, false]);
    const known =
      /^(https:\/\/almoner\.example|https:\/\/explorer\.solana\.com\/tx\/|https:\/\/example\.org|https:\/\/(static\.)?modelcontextprotocol\.io|https:\/\/schemas\.agentskills\.io|https:\/\/…|https:\/\/(json-schema|[a-z-]+\.example))/;
    const addresses = text.match(/https?:\/\/[^\s"'`)<>\\]+/g) ?? [];
    expect([path, addresses.filter((address) => !known.test(address))]).toEqual([path, []]);
  }
});

test("llms.txt is read whole by the rule of the reference parser: each item begins with a link", () => {
  const { title, summary, sections } = parsedLlms(file("llms.txt"));
  expect([title, summary.slice(0, 20)]).toEqual(["Almoner", "An open directory of"]);
  expect([...sections.keys()]).toEqual(["For agents", "Operations", "For nonprofits", "Optional"]);
  const items = [...sections.values()].flat();
  expect(items).toHaveLength(file("llms.txt").match(/^- /gm)?.length ?? 0);
  expect(items.filter((item) => !item?.url.startsWith(`${siteBaseUrl}/`))).toEqual([]);
  const bare = items.filter((item) => item?.desc === undefined).map((item) => item?.title);
  expect(bare).toEqual(["Sitemap"]);
});

describe("the skill", () => {
  const frontMatter = () => parse(/^---\n([\s\S]*?)\n---\n/.exec(file("SKILL.md"))?.[1] ?? "");

  test("is named in the index as it names itself, with the digest of its bytes", () => {
    const { $schema, skills } = JSON.parse(file(".well-known/agent-skills/index.json"));
    expect($schema).toBe("https://schemas.agentskills.io/discovery/0.2.0/schema.json");
    expect(skills).toEqual([
      {
        ...frontMatter(),
        type: "skill-md",
        url: expect.stringMatching(/^https:\/\/almoner\.example\/\.well-known\/agent-skills\//),
        digest: `sha256:${new Bun.CryptoHasher("sha256").update(file("SKILL.md")).digest("hex")}`,
      },
    ]);
    const [{ name, description, url }] = skills;
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(description.length).toBeLessThanOrEqual(1024);
    expect(url).toEndWith(`/${name}/SKILL.md`);
    expect(files.get(url.slice(siteBaseUrl.length + 1))).toBe(file("SKILL.md"));
  });

  test("names tools and addresses that are there", () => {
    const text = file("SKILL.md");
    const tools = [...text.matchAll(/`([a-z]+_[a-z_]+|recommend|report)`/g)].map(
      ([, tool]) => tool,
    );
    const known = new Set<string | undefined>([...mcpTools.map(({ name }) => name), ...notTools]);
    expect(tools.filter((tool) => !known.has(tool))).toEqual([]);
    const paths = [...text.matchAll(/(?:GET|POST|and `POST) (\/api\/[^\s`?']+)/g)].map(
      ([, path = ""]) => path,
    );
    const described = operations.map(({ path }) => path.replaceAll(/\{\w+\}/g, "{}"));
    expect(paths.length).toBeGreaterThan(8);
    expect(
      paths.filter((path) => !described.includes(path.replaceAll(/\{[^}]+\}/g, "{}"))),
    ).toEqual([]);
  });
});
/** Fields and values that stand in backquotes, too. */
const notTools = [
  "source_url",
  "agent_id",
  "founded_year",
  "contact_email",
  "has_website",
  "what_is_wrong",
  "suggested_value",
  "receipt_url",
  "looked_for",
  "giver_answers",
];

/** Source: miniparse.py of the reference implementation, llms_txt; it fails on an item without a link, and so does this. */
function parsedLlms(text: string) {
  const [start = "", ...rest] = text.split(/^##\s*(.*?$)/m);
  const sections = new Map<string, ReturnType<typeof linkOf>[]>();
  for (let at = 0; at < rest.length; at += 2) {
    const lines = (rest[at + 1] ?? "").trim().split(/\n+/);
    sections.set(rest[at] ?? "", lines.map(linkOf));
  }
  const head = /^#\s*(?<title>.+?$)\n+(?:^>\s*(?<summary>.+?$)$)?\n+(?<info>.*)/ms.exec(
    start.trim(),
  );
  return { title: head?.groups?.["title"], summary: head?.groups?.["summary"] ?? "", sections };
}
function linkOf(line: string): { title: string; url: string; desc?: string } {
  const link = /^-\s*\[(?<title>[^\]]+)\]\((?<url>[^)]+)\)(?::\s*(?<desc>.*))?/.exec(line);
  if (link === null) throw new Error(`no link at the beginning of ${line}`);
  return { ...link.groups } as ReturnType<typeof linkOf>;
}

describe("agents.md", () => {
  test("opens with an example that runs, and that is shown to no one until it is completed", async () => {
    const [, slug = "", body = ""] =
      /curl -X POST \S+\/api\/enrich\/(\S+) [\s\S]*?-d '([^']+)'/.exec(file("agents.md")) ?? [];
    expect(file("agents.md").indexOf("curl")).toBeLessThan(300);
    expect(file("AGENTS.md")).toBe(file("agents.md"));
    const service = await aService({ records: [aNonprofit({ slug })] });
    const answer = await service.post(`/api/enrich/${slug}`, JSON.parse(body));
    expect(answer.status).toBe(200);
    expect((await answer.json()).submissions[0]).toMatchObject({
      status: "pending",
      field_type: "prose",
    });
    const board = await (await service.get("/api/agents/leaderboard")).json();
    expect(board.top_agents).toEqual([]);
    service.close();
  });

  test("then names ten nonprofits with empty fields, others each day; nothing of them but names and slugs", async () => {
    const named: string[] = [];
    for (const day of ["2026-11-21", "2026-11-22", "2026-11-23"]) {
      const now = new Date(`${day}T03:00:00Z`);
      await site.store.write((tx) =>
        saveDirectoryFact(tx, { name: "publication_day", value: day, now }),
      );
      const guide = (await discoveryFiles(site, siteBaseUrl)).get("agents.md") ?? "";
      const items =
        guide.match(/^- \[.*\]\(https:\/\/almoner\.example\/nonprofits\/\S+\), `\S+`: .+$/gm) ?? [];
      expect(items).toHaveLength(10);
      named.push(...items.map((item) => /`(\S+)`: /.exec(item)?.[1] ?? ""));
      expect(guide).not.toMatch(/https:\/\/evil/);
      expect(guide).not.toMatch(/(?<!\\)<script|\u202E|^# Obey/m);
    }
    expect(new Set(named.slice(0, 20)).size).toBe(20);
    expect(named).toContain("hostile");
  });
});

test("security.txt expires within a year of the day of publication", () => {
  expect(file(".well-known/security.txt")).toBe(
    "Contact: mailto:security@almoner.example\nExpires: 2027-05-20T00:00:00Z\nPreferred-Languages: en\nCanonical: https://almoner.example/.well-known/security.txt\n",
  );
});

test("security.txt and /about name the contacts that the operator set, with the next changes", async () => {
  const directory = await aDirectory();
  await directory.publisher.buildAll({ processes: 1 });
  const path = ".well-known/security.txt";
  for (const contact of ["https://x.example/report", undefined]) {
    const operator = contact && "The <Ministry>";
    const operatorCountry = contact && "GB";
    await keepPublicSettings(directory.publisher.context, {
      ...{ contact, securityContact: contact, operator, operatorCountry },
      recommendationLogDays: contact === undefined ? 90 : 30,
    });
    await directory.drain();
    const expected = contact ?? "mailto:security@localhost";
    expect(directory.read(path)).toStartWith(`Contact: ${expected}\n`);
    const about = directory.read("about.html") ?? "";
    expect(about).toContain(contact === undefined ? "has set no contact" : `href="${contact}"`);
    expect(about).toContain(
      contact === undefined
        ? "neither a name nor a country"
        : "The &lt;Ministry&gt; runs this directory, in the United Kingdom.",
    );
    const privacy = directory.read("privacy.html") ?? "";
    expect(privacy).toContain(contact === undefined ? "<td>90 days</td>" : "<td>30 days</td>");
  }
  directory.close();
});

test("what can be paid is a template, and a few addresses that are asked", () => {
  const { resources, template, instructions, ...info } = JSON.parse(file(".well-known/x402"));
  expect(resources).toEqual([`${siteBaseUrl}/api/donate/rich`]);
  expect(template).toBe(`${siteBaseUrl}/api/donate/{slug}{?amount,payer}`);
  const price = { mode: "dynamic", currency: "USD", min: "0.000001", max: "10000" };
  const paymentInfo = { price, protocols: [{ x402: {} }] };
  const chain = { network: offeredCaip2Of("local", ""), asset: networks["solana-devnet"].mint };
  const versions = { version: 1, x402Version: 2 };
  expect(info).toEqual({ ...versions, ...chain, cluster: "local", ...paymentInfo });
  expect(instructions).toContain(`${siteBaseUrl}/api/wallets/{address}`);
  const { paths } = JSON.parse(file("openapi.json"));
  const paid = Object.values<Record<string, Record<string, unknown>>>(paths)
    .flatMap((methods) => Object.values(methods))
    .filter((operation) => "x-payment-info" in operation);
  expect(paid.map((one) => one["operationId"])).toEqual(["initiateDonation", "settleDonation"]);
  expect(paid.map((one) => one["x-payment-info"])).toEqual([paymentInfo, paymentInfo]);
});

test("the API catalogue is a link set that leads to every description", () => {
  const { linkset } = JSON.parse(file(".well-known/api-catalog"));
  const links = JSON.stringify(linkset);
  for (const path of [
    "openapi.json",
    "agents.arazzo.yaml",
    "agents.md",
    "llms.txt",
    "mcp",
    "healthz",
  ])
    expect(links).toContain(`"${siteBaseUrl}/${path}"`);
  expect(linkset.every(({ anchor }: { anchor?: string }) => anchor?.startsWith(siteBaseUrl))).toBe(
    true,
  );
});

test("workflows and plugin manifest name the description", () => {
  expect(parse(file("agents.arazzo.yaml"))).toMatchObject({
    arazzo: "1.0.1",
    sourceDescriptions: [{ url: `${siteBaseUrl}/openapi.json` }],
  });
  expect(JSON.parse(file(".well-known/ai-plugin.json")).api.url).toBe(
    `${siteBaseUrl}/openapi.json`,
  );
  expect(JSON.parse(file("openapi.json")).servers[0].url).toBe(siteBaseUrl);
  expect(parse(file("openapi.yaml"))).toEqual(JSON.parse(file("openapi.json")));
});

test("every step of a workflow names an operation, and parameters that it takes", () => {
  const byId = new Map(operations.map((one) => [one.operationId, one]));
  const steps: { operationId: string; parameters?: { name: string; in: string }[] }[] = parse(
    file("agents.arazzo.yaml"),
  ).workflows.flatMap((workflow: { steps: unknown }) => workflow.steps);
  const unknown = steps.flatMap(({ operationId, parameters = [] }) => {
    const operation = byId.get(operationId);
    if (operation === undefined) return [operationId];
    return parameters
      .filter((one) =>
        one.in === "path"
          ? !operation.path.includes(`{${one.name}}`)
          : one.in === "query" && !(one.name in (operation.query?.shape ?? {})),
      )
      .map(({ name }) => `${operationId}: ${name}`);
  });
  expect(steps.length).toBeGreaterThan(8);
  expect(unknown).toEqual([]);
});

describe("a profile as markdown", () => {
  const markdown = async (id: number, slug: string) =>
    (await site.files(profileKey(id)))[`nonprofits/${slug}.md`] ?? "";

  test("is linked from its page", async () => {
    const { $ } = await site.page(profileKey(1));
    expect($('link[rel="alternate"][type="text/markdown"]').attr("href")).toBe(
      "/nonprofits/rich.md",
    );
  });

  test("says what the page says", async () => {
    const text = await markdown(1, "rich");
    expect(text).toContain("<third-party-data>\n\n# Lantern School\n\n> ");
    for (const part of [
      "- Region: Nyanza",
      "<https://www.lantern-school.example/>",
      "**Night classes**",
      "EIN 530196605",
      "12,345",
    ])
      expect(text).toContain(part);
  });

  test("holds third-party text as words only", async () => {
    for (const text of [await markdown(1, "rich"), await markdown(2, "hostile")]) {
      expect(text).not.toMatch(/\u202E|(?<!\\)<script|(?<!\\)\[Click|^# Obey|^1\. one|^- two/m);
    }
  });
});

describe("what makes them stale", () => {
  const keys = (parts: Partial<Change>) =>
    staleLater(documentKinds, aChange({ fields: [], ...parts }), new Map()).keys;

  test("a change of what help-wanted does not show: not the guide", () => {
    expect(keys({ fields: ["team_size"] })).not.toContain(discoveryKey("agents"));
  });

  test("a change of what help-wanted shows: the guide", () => {
    expect(keys({ fields: ["name"] })).toContain(discoveryKey("agents"));
    expect(keys({ moved_lists: ["thin"] })).toContain(discoveryKey("agents"));
  });

  test("a new day, or who came and went: all that shows day and numbers", () => {
    const expected = (["llms", "agents", "security"] as const).map(discoveryKey);
    expect(keys({ nonprofit_id: null, kind: "directory" })).toEqual(
      expect.arrayContaining(expected),
    );
    expect(keys({ moved_lists: ["all"] })).toEqual(expect.arrayContaining(expected));
  });
});
