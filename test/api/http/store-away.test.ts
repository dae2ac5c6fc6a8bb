import { expect, test } from "bun:test";
import { exampleOf } from "#content/contract/base/example.ts";
import { operations } from "#content/openapi/document.ts";
import { fetchWithin, StoreAway } from "#content/store/busy.ts";
import { openFrontDoor } from "#scripts/start/front-door.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { anAwayStore } from "#test/support/away-store.ts";
import { aBundle } from "#test/support/bundle.ts";
import { theService } from "#test/support/service.ts";
import { serveHere } from "#test/support/serve-here.ts";

const token = "0123456789abcdef0123456789abcdef";
const store = await anAwayStore();
const service = await theService({
  context: { store },
  env: { ALMONER_ADMIN_TOKENS: `ops:${token}`, ALMONER_RECOMMENDATION_PHASE: "3" },
});

/** What a path or a query needs before the store is asked at all. */
const inPlaces: Record<string, string> = {
  org_id: "US-EIN-13-1624147",
  id: "onboarding-1",
  donation_id: "1",
  delivery: "1",
  kind: "entity",
  address: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
};
const queries: Record<string, string> = {
  recommendNonprofits: "?cause=health",
  compareNonprofits: "?orgs=oak",
  findOrganisations: "?name=oak",
  listAgentSubmissions: "?agent_id=a",
  getReconciliation: `?queries=${encodeURIComponent('{"a": {"query": "Hope"}}')}`,
};
const bodies: Record<string, unknown> = {
  decideReviews: { ids: ["onboarding-1"], decision: "approved" },
  reconcileNames: { queries: '{"a": {"query": "Hope"}}' },
  settleDonation: { tx_signature: "5".repeat(87) },
};
/** These ask nothing of the store, or are refused before. */
const withoutStore = [
  "listAddresses",
  "callReadTool",
  "callTool",
  "browseNonprofits",
  "compareForPeople",
  "searchForPeople",
  "getHealth",
  "getReadiness",
  "getReconciliationDraft",
  "getWalletChallenge",
  "historyForPeople",
  "proposeProperties",
];
const routes = new Set(service.app.routes.map(({ method, path }) => `${method} ${path}`));
const asked = operations
  .filter(({ method, path }) =>
    routes.has(`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  )
  .filter(({ operationId }) => !withoutStore.includes(operationId));

test.each(asked.map((one) => [one.operationId, one] as const))(
  "with the database server away %s",
  async (id, operation) => {
    const { method, path, body } = operation;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPlaces[name] ?? "oak");
    const sent = bodies[id] ?? (body && exampleOf(body.shape));
    const isForm = body?.mediaType === "application/x-www-form-urlencoded";
    const answer = await service.request(`${filled}${queries[id] ?? ""}`, {
      method: method.toUpperCase(),
      headers: {
        ...(!isForm && { "content-type": "application/json" }),
        authorization: `Bearer ${token}`,
      },
      ...(body && { body: isForm ? new URLSearchParams(Object(sent)) : JSON.stringify(sent) }),
    });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await answer.json()).toMatchObject({ code: "store_away", status: 503 });
  },
);

test("pages and files of the bundle go on meanwhile, and /readyz says what is missing", async () => {
  using bundle = aBundle();
  const files = ["nonprofits/oak.html", "api/nonprofits/oak.json", "llms.txt", "index.html"];
  bundle.publish(Object.fromEntries(files.map((file) => [file, file])));
  const door = await openFrontDoor(service.context, openBundleReader(bundle.folder));
  const paths = ["/nonprofits/oak", "/api/nonprofits/oak", "/llms.txt", "/"];
  const statuses = paths.map(async (path) => {
    const answer = await door(new Request(`http://localhost${path}`));
    return [path, answer?.status];
  });
  expect(await Promise.all(statuses)).toEqual(paths.map((path) => [path, 200]));
  const { reasons } = (await (await service.get("/readyz")).json()) as { reasons: unknown };
  expect(reasons).toMatchObject([{ part: "store" }]);
});

test("a database server that does not answer, or breaks off, is away after the wait", async () => {
  const mute = serveHere(({ url }) =>
    url.endsWith("/half")
      ? new Response(new ReadableStream({ start: (half) => half.enqueue("{") }))
      : new Promise<Response>(() => {}),
  );
  const ask = fetchWithin(50);
  for (const path of ["/", "/half"]) {
    const answer = ask(new Request(`http://127.0.0.1:${mute.port}${path}`));
    expect(await answer.catch((error: unknown) => error)).toBeInstanceOf(StoreAway);
  }
  await mute.stop(true);
});
