import { expect, test } from "bun:test";
import { referenceView } from "#site/parts/reference-view.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const base = "https://almoner.example";
const service = await theService({ records: [aNonprofit({ slug: "hope-kitchen" })] });
const commands = referenceView(base).flatMap(({ operations }) =>
  operations.map(({ method, path, example }) => [`${method} ${path}`, example] as const),
);

test.each(commands)("the command for %s sends that", (operation, command) => {
  const isPost = /^curl -X POST | (?:-d|--data-urlencode) '/.test(command);
  expect(isPost ? "POST" : "GET").toBe(operation.slice(0, operation.indexOf(" ")) as "GET");
});

const forms = commands.filter(([, command]) => command.includes("--data-urlencode"));
test.each(forms)("the form of the command for %s is taken", async (operation, command) => {
  const fields = [...command.matchAll(/--data-urlencode '([^=]+)=([^']*)'/g)];
  const body = new URLSearchParams(fields.map(([, name = "", value = ""]) => [name, value]));
  const { status } = await service.request(operation.split(" ")[1] ?? "", { method: "POST", body });
  expect(status).toBe(200);
});

test.each<[operation: (typeof commands)[number][0], address: string]>([
  ["GET /api/recommend", "/api/recommend?cause=education"],
  // Its first parameter would read a number of one country as that of another.
  ["GET /api/organisations/{org_id}", "/api/organisations/{org_id}"],
])("%s names a parameter only where nothing is answered without one", (operation, address) => {
  expect(new Map(commands).get(operation)).toBe(`curl "${base}${address}"`);
});

test("the command that has a host looked at sends no code of a mail", () => {
  const command = new Map(commands).get("POST /api/onboard/host-proof") ?? "";
  expect(command.slice(command.indexOf("{"))).toContain('"code": null');
});
