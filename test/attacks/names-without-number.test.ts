import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import * as otherNames from "#content/contract/other-names.ts";
import { theService } from "#test/support/service.ts";
import { aNonprofit } from "#test/support/records.ts";

// One small request holds thousands of unknown names: to compare each with the known ones keeps everyone else waiting.

const service = await theService({ records: [aNonprofit({ slug: "oak" })] });
const names = Array.from({ length: 3_000 }, (_, at) => `sourceurl${at}`);
const compared = spyOn(otherNames, "nearestName");
afterEach(() => compared.mockClear());
afterAll(() => compared.mockRestore());

test("only the names that are answered are compared, in a query", async () => {
  const { ignored } = await service.json(`/api/search?q=oak&${names.join("&")}`);
  expect([ignored.length, compared.mock.calls.length]).toEqual([20, 20]);
});

test("and in a body", async () => {
  const members = Object.fromEntries(names.map((name) => [name, 1]));
  const body = { ...members, field: "city", value: "Oslo", agent_id: "a" };
  const sent = await service.post("/api/enrich/oak", body);
  expect([sent.status, (await sent.json()).ignored.length]).toEqual([200, 20]);
  expect(compared.mock.calls.length).toBe(20);
});
