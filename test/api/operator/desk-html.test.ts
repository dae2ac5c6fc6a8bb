import { expect, test } from "bun:test";
import { table } from "#api/operator/desk/elements.ts";

test("a table of numbers, wider than a phone, is moved by keys, too", () => {
  const region = 'tabindex="0" role="region" aria-label="Calls of"';
  const made = table({ kind: "numbers", columns: ["Calls of", "All"], rows: [["mcp", "7"]] });
  expect(made.toString()).toContain(region);
  expect(table({ columns: ["Calls of"], rows: [["mcp"]] }).toString()).not.toContain("tabindex");
});
