import { afterAll, beforeAll, expect, test } from "bun:test";
import { software } from "#content/store/software.ts";
import { aService, type TestService } from "#test/support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.close());

test("the service says that it is well, and which version and commit it is", async () => {
  const answer = await service.get("/healthz");
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ status: "ok", ...software() });
  expect([answer.headers.get("cache-control"), answer.headers.get("etag")]).toEqual([
    "no-store",
    null,
  ]);
});

test("an unknown path is a problem with status 404", async () => {
  const answer = await service.get("/nowhere");
  expect(answer.status).toBe(404);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(await answer.json()).toMatchObject({ status: 404, code: "no_such_path" });
});
