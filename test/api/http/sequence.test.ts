import { afterAll, expect, test } from "bun:test";
import { watchChanges } from "#content/feed/store.ts";
import { openStore } from "#content/store/open.ts";
import { openFrontDoor } from "#scripts/start/front-door.ts";
import { openBundleReader, openPublicationWait } from "#site/delivery/bundle-reader.ts";
import { aBundle } from "#test/support/bundle.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

// Three services on one store. Like those on a database server they look for changes of others now and then only.

const records = [aNonprofit({ slug: "oak" }), aNonprofit({ slug: "elm" })];
const services = [await aService({ records })];
const at = (service: number): TestService => services[service] as TestService;
const { databaseUrl: url } = at(0).context.config;
while (services.length < 3) {
  const store = await openStore({ url, synchronous: "OFF" });
  services.push(await aService({ context: { store, watch: watchChanges(store, 3_600_000) } }));
}
afterAll(() => {
  for (const service of services.toReversed()) service.close();
});

/** Two agents say the same: the answer to the second names the change. */
async function agree(service: TestService, slug: string): Promise<Response> {
  const said = { field: "city", value: "Oslo", source_url: `https://${slug}.example/about` };
  const first = await service.post(`/api/enrich/${slug}`, { ...said, agent_id: "a" });
  expect(first.status).toBe(200);
  return service.post(`/api/enrich/${slug}`, { ...said, agent_id: "b" });
}

const cityOf = async (answer: Response) => ((await answer.json()) as { city: unknown }).city;

test("what one service acknowledged the others show to who brings its number", async () => {
  const path = "/api/nonprofits/oak";
  for (const service of services) expect(await cityOf(await service.get(path))).toBeNull();
  const answer = await agree(at(0), "oak");
  const sequence = answer.headers.get("almoner-sequence") ?? "";
  expect(Number(sequence)).toBeGreaterThan(0);
  expect(answer.headers.get("access-control-expose-headers")).toContain("Almoner-Sequence");
  for (const service of [at(1), at(2)]) {
    // Others see it when the service looks again.
    expect(await cityOf(await service.get(path))).toBeNull();
    const headers = { "almoner-sequence": sequence };
    expect(await cityOf(await service.get(path, headers))).toBe("Oslo");
    expect(await cityOf(await service.get(path))).toBe("Oslo");
  }
});

test("a number that no change has, or that is none, is not waited for", async () => {
  for (const sequence of ["999999999", "-1", "x", "1e9", "9".repeat(40)]) {
    const answer = await at(1).get("/api/nonprofits/elm", { "almoner-sequence": sequence });
    expect(answer.status).toBe(200);
  }
});

test("an operator's change names itself", async () => {
  const headers = { authorization: `Bearer ${at(0).context.secrets.adminTokens[0]?.token}` };
  const body = { reason: "a test", values: { city: "Bergen" } };
  const answer = await at(0).post("/api/admin/nonprofits/elm/edit", body, headers);
  expect(answer.status).toBe(200);
  const { rows } = await at(0).store.raw.execute("SELECT max(sequence) FROM changes");
  expect(answer.headers.get("almoner-sequence")).toBe(String(rows[0]?.[0]));
});

test("files wait until they show it", async () => {
  using bundle = aBundle();
  const page = (text: string) => ({ "nonprofits/oak.html": `<p>${text}` });
  bundle.publish(page("before"));
  const reader = openBundleReader(bundle.folder);
  const newest = 3;
  const watch = { ...at(0).context.watch, sequence: () => newest };
  const shown = {
    ...reader,
    current: () => ({ ...reader.current(), profilesTo: reader.current().release + 1 }),
  };
  const door = await openFrontDoor(
    {
      ...at(0).context,
      watch,
      waitForPublication: openPublicationWait(shown, async () => 1, 10_000),
    },
    reader,
  );
  const read = async (headers: Record<string, string> = {}) =>
    (await door(new Request("http://localhost/nonprofits/oak", { headers })))?.text();
  expect(await read()).toContain("before");
  const waiting = read({ "almoner-sequence": String(newest) });
  await Bun.sleep(20);
  bundle.publish(page("after"));
  expect(await waiting).toContain("after");
});
