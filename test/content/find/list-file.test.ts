import { expect, test } from "bun:test";
import { namesAsked } from "#content/contract/operations/operation.ts";
import { writers } from "#content/contract/operations/list-file.ts";

const known = ["slug", "name", "causes", "founded_year"];

test("a row is written with the fields that are asked for, in their order, empty where it has no value", () => {
  const row = { name: "A, B", slug: "a", causes: ["health", "water"], founded_year: null };
  const fields = ["causes", "founded_year", "name", "distance_km"];
  const { head, line } = writers.csv(fields);
  expect(head + line(row)).toBe(
    'causes,founded_year,name,distance_km\r\n"health; water",,"A, B",\r\n',
  );
  expect(writers.ndjson(fields).head).toBe("");
  expect(writers.ndjson(fields).line(row)).toBe(
    '{"causes":["health","water"],"founded_year":null,"name":"A, B"}\n',
  );
});

test.each([
  ["", undefined],
  [" , ", undefined],
  ["name,slug", ["name", "slug"]],
  [" name , name,slug,", ["name", "slug"]],
])("of %j the fields are %p", (asked, fields) => {
  expect(namesAsked("field", asked, known)).toEqual({ ok: true, value: fields });
});

test.each([
  ["slug,founded", "founded is no field here. The nearest: founded_year."],
  ["nmae", "nmae is no field here."],
  ["Name", "Name is no field here. The nearest: name."],
  ["zzz", "zzz is no field here. There are slug"],
  ["x".repeat(500), `${"x".repeat(100)} is no field here.`],
  ["__proto__", "__proto__ is no field here."],
])("%j is refused with the nearest and the list", (asked, detail) => {
  const read = namesAsked("field", asked, known);
  expect(read.ok).toBe(false);
  expect(read.ok ? "" : read.failure).toStartWith(detail);
  expect(read.ok ? "" : read.failure).toEndWith("There are slug, name, causes, founded_year.");
});
