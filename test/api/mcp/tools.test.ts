import { describe, expect, test } from "bun:test";
import { clientsInstalled, countTokens } from "#test/support/clients.ts";
import words from "#content/editorial/mcp-tools.json";
import { knownAt, listedAt, type McpTool, mcpTools } from "#content/openapi/mcp-tools.ts";

const names = (tools: readonly McpTool[]) => tools.map(({ name }): string => name);

test("eleven tools are listed by default, others on request, and an older name still works", () => {
  expect(names(listedAt("default"))).toEqual([
    "search_nonprofits",
    "get_nonprofit",
    "list_causes",
    "check_organisation",
    "check_wallet",
    "recommend",
    "needs_enrichment",
    "submit_enrichment",
    "report",
    "donation_requirements",
    "prove_donation",
  ]);
  expect(names(listedAt("all"))).toContain("donation_receipt");
  expect(names(listedAt("all"))).not.toContain("report_wrong_value");
  expect(names(knownAt("default"))).toContain("report_wrong_value");
});

test("at the read-only door every tool only reads, and none speaks of paying", () => {
  expect(knownAt("read")).toEqual(listedAt("read"));
  for (const {
    name,
    listed: { annotations },
    operation,
  } of listedAt("read")) {
    expect([name, annotations.readOnlyHint, operation.method]).toEqual([name, true, "get"]);
    expect(operation.path).not.toMatch(/donat/);
  }
});

test.skipIf(!clientsInstalled)("the list takes at most 5,000 tokens", async () => {
  const tools = listedAt("default").map(({ listed }) => listed);
  expect(await countTokens(JSON.stringify({ tools }))).toBeLessThanOrEqual(5_000);
});

describe.each(mcpTools.map((tool) => [tool.name, tool] as const))("%s", (name, tool) => {
  test("says what it is for, when to use it and when not", () => {
    const { purpose, use, not, next } = words.tools[name];
    for (const part of [purpose, use, not, next]) expect(part.length).toBeGreaterThan(10);
    expect(tool.listed.description).toBe(`${purpose} Use it ${use}. Do not use it ${not}.`);
    expect(`${tool.listed.description} ${next}`).not.toMatch(/\/api\/|GET |POST /);
    const tools = `${use} ${not} ${next}`.matchAll(/\b(?:search|list|get|check|submit|prove)_\w+/g);
    for (const [word] of tools) expect(names(mcpTools)).toContain(word);
  });

  test("takes no other arguments, requires what the body does, and describes each that it takes", () => {
    expect(tool.listed.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    const { required = [] } = tool.operation.body?.shape.meta() ?? {};
    expect(tool.listed.inputSchema.required ?? []).toEqual(expect.arrayContaining(required as []));
    for (const [argument, { description = "" }] of Object.entries(
      tool.listed.inputSchema.properties,
    )) {
      const said = [argument, description];
      if (tool.door === "all") expect(said).toEqual([argument, expect.stringMatching(/.{10}/)]);
      else expect(said).toEqual([argument, expect.stringMatching(/^\w{3}.*, e\.g\. \S/)]);
      if (argument === "amount") expect(description).toContain("USDC");
      if (argument === "within_km") expect(description).toContain("kilometres");
    }
  });
});
