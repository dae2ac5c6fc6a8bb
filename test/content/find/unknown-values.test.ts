import { expect, test } from "bun:test";
import { comparedAs, wantedBy } from "#content/nonprofit/filters.ts";
import { unknownNote, unknownValues } from "#content/find/query.ts";

test.each([
  [{ country: "Kenja" }, ["Kenya"]],
  [{ country: "Scotland" }, ["United Kingdom"]],
  [{ cause: "foo" }, ["food-security"]],
  [{ cause: "enviroment" }, ["environment"]],
  [{ cause: "food bank" }, ["food-security"]],
  [{ region: "Hawaai" }, ["Hawaii"]],
  [{ region: "Queenslnd" }, ["Queensland"]],
  [{ city: "Chester-le-Stret" }, ["Chester-le-Street"]],
  [{ city: "Honolulo" }, ["Honolulu"]],
  [{ cause: "xyzzyq" }, []],
  [{ country: "<>" }, []],
])("nearest to %j is %p", (filters, near) => {
  expect(unknownValues(filters)).toMatchObject([{ near }]);
});

test.each([
  { country: "Kenia" },
  { cause: "none" },
  { cause: " Health " },
  { region: "HI" },
  { region: "Nairobi County" },
  { city: "Hawaai" },
  { city: "st. louis" },
  { city: "Kisumu" },
  {},
])("no value of %j is unknown", (filters) => {
  expect(unknownValues(filters)).toEqual([]);
  expect(unknownNote(filters, 0)).toBeNull();
});

test("the note names what is unknown, and only where nothing was found", () => {
  const filters = { cause: "foo", country: "Xq" };
  expect(unknownNote(filters, 1)).toBeNull();
  expect(unknownNote(filters, 0)).toBe(
    'No cause "foo" is known here. The nearest: food-security. No country "Xq" is known here. Send its English name or ISO 3166 code.',
  );
  const [cause] = unknownValues({ cause: "Xq" });
  expect(cause?.message).toBe('No cause "Xq" is known here. GET /api/causes lists them.');
});

test("a state is asked for by its code, too", () => {
  expect(wantedBy("region", "HI")).toBe(comparedAs("region", "Hawaii"));
  expect(wantedBy("city", "HI")).toBe("hi");
});
