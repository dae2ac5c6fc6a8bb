import { expect, test } from "bun:test";
import { fieldsAsked } from "#content/contract/operations/weight.ts";
import { writers } from "#content/find/list-file.ts";

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
  ["", known],
  [" , ", known],
  ["name,slug", ["name", "slug"]],
  [" name , name,slug,", ["name", "slug"]],
])("of %j the fields are %p", (asked, fields) => {
  expect(fieldsAsked(asked, known)).toEqual({ ok: true, value: fields });
});

test.each([
  ["slug,founded", 'No field is "founded". The nearest is founded_year.'],
  ["nmae", 'No field is "nmae".'],
  ["Name", 'No field is "Name". The nearest is name.'],
  ["zzz", 'No field is "zzz". Fields are slug'],
  ["x".repeat(500), `No field is "${"x".repeat(60)}".`],
  ["__proto__", 'No field is "__proto__".'],
])("%j is refused with the nearest and the list", (asked, detail) => {
  const read = fieldsAsked(asked, known);
  expect(read.ok).toBe(false);
  expect(read.ok ? "" : read.failure).toStartWith(detail);
  expect(read.ok ? "" : read.failure).toEndWith("Fields are slug, name, causes, founded_year.");
});
