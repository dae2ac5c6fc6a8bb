import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listen, type Listener } from "#api/http/listen.ts";
import { announceService, findService } from "#api/operator/running-service.ts";
import { aNonprofit } from "../support/records.ts";
import { aService, beside, type TestService } from "../support/service.ts";
import { runApart, runScript } from "#test/support/processes.ts";
import { serveHere } from "#test/support/serve-here.ts";

let service: TestService;
let listening: Listener;
let leave: () => void;
let requests = 0;

beforeAll(async () => {
  service = await aService();
  await service.add(aNonprofit({ slug: "wells" }));
  const before = () => {
    requests += 1;
    return null;
  };
  listening = listen(service.app, { ...service.context.config, port: 0 }, { before });
  leave = announceService(service.context.config.dataDir, listening.url);
});
afterAll(async () => {
  leave();
  await listening.stop({ graceMs: 0 });
  service.close();
});

const env = () => ({
  ...beside(service),
  ALMONER_ADMIN_TOKENS: service.context.secrets.adminTokens
    .map(({ name, token }) => `${name}:${token}`)
    .join(","),
});
const review = (...args: string[]) => runScript("review", args, env());

test("beside a running service a command speaks to it, in the name of one of its operators", async () => {
  const [operator] = service.context.secrets.adminTokens;
  await service.post("/api/enrich/wells", {
    field: "mission",
    value: "Water for all.",
    agent_id: "bot-a",
  });
  requests = 0;
  const listed = await review("list", "--json");
  const { reviews } = JSON.parse(listed.out) as { reviews: { id: string }[] };
  expect(reviews).toHaveLength(1);
  expect(requests).toBeGreaterThan(0);

  const id = reviews[0]?.id ?? "";
  const refused = await review("reject", id, "--reason", "no", "--operator", "someone-else");
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.err).toContain(operator?.name ?? "");

  const rejected = await review("reject", id, "--reason", "too short", "--json");
  expect(JSON.parse(rejected.out)).toMatchObject({ ok: true, value: { id, decision: "rejected" } });
  const log = await review("log", "--subject", id, "--json");
  expect(JSON.parse(log.out)).toMatchObject({ entries: [{ operator: operator?.name }] });
});

test("the file of a service that has ended is no service", async () => {
  const { dataDir } = service.context.config;
  expect(await findService(dataDir)).toBe(listening.url);
  leave();
  expect(await findService(dataDir)).toBeNull();
  const child = Bun.spawn(["true"]);
  await child.exited;
  await Bun.write(
    join(dataDir, "service.json"),
    JSON.stringify({ pid: child.pid, url: listening.url }),
  );
  expect(await findService(dataDir)).toBeNull();
  leave = announceService(dataDir, listening.url);
});

test("a service whose file went missing, or is that of one that ended, names itself again", async () => {
  const { dataDir } = service.context.config;
  const path = join(dataDir, "service.json");
  leave();
  leave = announceService(dataDir, listening.url, { everyMs: 5 });
  const child = Bun.spawn(["true"]);
  await child.exited;
  const ended = JSON.stringify({ pid: child.pid, url: "http://127.0.0.1:1" });
  for (const spoil of [() => rmSync(path), () => writeFileSync(path, ended)]) {
    spoil();
    while ((await findService(dataDir)) === null) await Bun.sleep(5);
    expect(await findService(dataDir)).toBe(listening.url);
  }
});

test("an answer that is no problem, and an error that no one expected, are failures", async () => {
  const { dataDir } = service.context.config;
  leave();
  const proxy = serveHere(({ url }) =>
    url.endsWith("/healthz") ? new Response() : Response.json({}, { status: 502 }),
  );
  const words = ["reject", "prose-1", "--reason", "no", "--json"];
  const leaveProxy = announceService(dataDir, proxy.url.origin);
  const { out, code } = await review(...words);
  leaveProxy();
  await proxy.stop(true);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({ ok: false, failure: { kind: "502", message: "" } });

  await service.store.raw.execute("ALTER TABLE submissions RENAME TO elsewhere");
  // Its log is of its own process.
  const local = await runApart("review", words, env());
  await service.store.raw.execute("ALTER TABLE elsewhere RENAME TO submissions");
  leave = announceService(dataDir, listening.url);
  expect(local.code).toBe(1);
  expect(JSON.parse(local.out)).toMatchObject({ ok: false, failure: { kind: "internal" } });
  expect(local.err).toContain("no such table");
});
