import { expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { freePort, putCompiledSite, runProgram, untilAnswers } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theFolder } from "#test/support/at-file-top.ts";

// No container engine is asked for: files are read as an engine reads them, and what they run is run in a fresh folder.

const root = join(import.meta.dirname, "../..");
const folder = join(root, "scripts/container");
const read = (name: string) => readFileSync(join(folder, name), "utf8");

const Words = z.array(z.string());
/** The fields of the Compose specification that the file uses. */
const Service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  command: Words.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.array(z.strictObject({ path: z.string(), required: z.boolean() })).optional(),
  volumes: z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/)).default([]),
  ports: z.array(z.string().regex(/^\d+:\d+(\/udp)?$/)).optional(),
  depends_on: z
    .union([Words, z.record(z.string(), z.strictObject({ condition: z.string() }))])
    .default([]),
  healthcheck: z
    .strictObject({ test: Words, interval: z.string(), start_period: z.string() })
    .optional(),
  profiles: Words.optional(),
  pid: z.string().optional(),
  user: z.string().optional(),
  restart: z.literal("unless-stopped"),
  stop_grace_period: z.string().optional(),
});
const Compose = z.strictObject({
  name: z.string(),
  "x-almoner": z.unknown(),
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.null()),
});
const compose = Compose.parse(parse(read("compose.yaml"), { merge: true }));
const serviceNamed = (name: string) => Service.parse(compose.services[name]);

/** Instructions of the Containerfile, in order. */
const steps = read("Containerfile")
  .split("\n")
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => {
    const [, instruction = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return { instruction, rest };
  });
const stepsOf = (instruction: string) =>
  steps.flatMap((step) => (step.instruction === instruction ? [step.rest] : []));

const wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
const fresh = theFolder();

test("what the services of the compose file name is there", () => {
  for (const { volumes, depends_on, build } of Object.values(compose.services)) {
    for (const [source = ""] of volumes.map((volume) => volume.split(":"))) {
      expect(
        source.startsWith("./") ? existsSync(join(folder, source)) : source in compose.volumes,
      ).toBe(true);
    }
    const names = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
    expect(names.filter((name) => !(name in compose.services))).toEqual([]);
    if (build !== undefined) {
      expect(existsSync(join(folder, build.context, build.dockerfile))).toBe(true);
    }
  }
  expect(Object.keys(compose.services)).toEqual(["service", "publisher", "caddy", "litestream"]);
  const litestream = z
    .strictObject({
      dbs: z.array(
        z.strictObject({ path: z.string(), replica: z.strictObject({ url: z.string() }) }),
      ),
    })
    .parse(parse(read("litestream.yml")));
  expect(litestream.dbs.map(({ path }) => path)).toEqual(["/var/lib/almoner/store.db"]);
  expect(stepsOf("VOLUME")).toEqual(["/var/lib/almoner"]);
});

const caddy = Bun.which("caddy");
test.skipIf(caddy === null)("Caddy takes its file, and asks the service at its port", async () => {
  const env = { ALMONER_SITE: "directory.example" };
  const file = join(folder, "Caddyfile");
  const words = ["adapt", "--validate", "--adapter", "caddyfile", "--config", file];
  const { code, out, err } = await runProgram(["caddy", ...words], { env });
  expect(code === 0 ? "" : err).toBe("");
  expect(out).toContain('"host":["directory.example"]');
  expect(out).toContain(`"upstreams":[{"dial":"service:${stepsOf("EXPOSE")[0]}"}]`);
});

async function doStep(instruction: string, rest: string): Promise<void> {
  if (instruction === "COPY") {
    const sources = rest.split(" ").slice(0, -1);
    const to = rest.split(" ").at(-1) ?? "";
    for (const source of sources) {
      const place = to === "./" ? join(fresh, source) : join(fresh, to);
      cpSync(join(root, source), place, { recursive: true });
    }
  }
  if (instruction !== "RUN") return;
  if (rest.startsWith("npm ci --omit=dev")) {
    const modules = join(fresh, "node_modules");
    mkdirSync(modules);
    // Of development dependencies the service would take one, where it is there: the local chain's.
    for (const name of readdirSync(join(root, "node_modules"))) {
      if (!name.startsWith("litesvm"))
        symlinkSync(join(root, "node_modules", name), join(modules, name));
    }
  } else {
    // The image has its user "node"; here the folder is ours.
    const words = rest.replace("-o node -g node ", "").replaceAll("/var/lib", `${fresh}/var`);
    expect(await runProgram(["sh", "-c", words])).toMatchObject({ code: 0, err: "" });
  }
}

test("the image holds what service and publisher need; without a chain it asks no one for money, and says so", async () => {
  for (const { instruction, rest } of steps) await doStep(instruction, rest);
  const dataDir = join(fresh, "var/almoner");
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  await putCompiledSite(dataDir);
  const store = await openStore({ url: `file:${join(dataDir, "store.db")}` });
  const saved = { before: null, after: aNonprofit({ slug: "hope-kitchen", usdc_wallet: wallet }) };
  await store.write((tx) => saveNonprofits(tx, [saved], { origin: "test", now: new Date() }));
  store.close();
  const port = await freePort();
  const { command = [], environment, healthcheck } = serviceNamed("service");
  const service = Bun.spawn(command, {
    cwd: fresh,
    env: {
      PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`,
      ...environment,
      ALMONER_BASE_URL: "https://directory.example",
      ALMONER_DATA_DIR: dataDir,
      ALMONER_PORT: String(port),
      ALMONER_NETWORK: "local",
      ALMONER_CHAIN_PORT: "0",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = new Response(service.stderr).text();
  const address = `http://127.0.0.1:${port}`;
  await untilAnswers(`${address}/healthz`, service);
  const check = healthcheck?.test.slice(1).map((word) => word.replace(/:8080\b/, `:${port}`)) ?? [];
  expect(await runProgram(check, { cwd: fresh })).toMatchObject({ code: 0 });
  const page = await fetch(`${address}/nonprofits/hope-kitchen`);
  expect([page.status, page.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  const asked = await fetch(`${address}/api/donate/hope-kitchen`);
  expect([asked.status, (await asked.json()).code]).toEqual([503, "chain_away"]);
  service.kill("SIGTERM");
  await service.exited;
  expect(await said).toContain("this installation leaves it out");
  // The publisher's command is one of these files, too: of the repository the image lacks only what runs nothing.
  const [entry = ""] = serviceNamed("publisher").command?.slice(1) ?? [];
  expect(existsSync(join(fresh, entry))).toBe(true);
  const left = (await runProgram(["git", "ls-files"])).out
    .split("\n")
    .map((path) => path.split("/")[0] ?? "")
    .filter((top) => !existsSync(join(fresh, top)) && !top.startsWith("."));
  expect([...new Set(left)]).toEqual(["README.md", "docs", "test"]);
});
