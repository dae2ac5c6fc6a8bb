import { afterAll, expect, test } from "bun:test";
import { Glob } from "bun";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readConfig } from "#api/config.ts";
import { loadSecrets } from "#api/secrets.ts";
import { runScript } from "#test/support/processes.ts";
import { putCompiledSite } from "#test/support/publisher.ts";

const folder = mkdtempSync(join(tmpdir(), "almoner-bundle-"));
await putCompiledSite(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = async (...command: [script: string, ...words: string[]]): Promise<void> => {
  const env = {
    ALMONER_DATA_DIR: folder,
    ALMONER_PUBLIC_DIR: join(folder, "public"),
    ALMONER_LOG_LEVEL: "silent",
    ALMONER_SEARCH_INDEX: "off",
    ALMONER_PICTURES: "off",
  };
  const [script, ...words] = command;
  const { code, err } = await runScript(script, words, env);
  if (code !== 0) throw new Error(err);
};

test("no byte of the desk and no secret is in the bundle", async () => {
  await run("seed", "--profiles", "10");
  // What the service makes at its first start: tokens and keys.
  loadSecrets(readConfig({ ALMONER_DATA_DIR: folder }));
  await run("publish");
  const secrets = readdirSync(join(folder, "secrets")).map((name) =>
    readFileSync(join(folder, "secrets", name), "utf8").trim(),
  );
  expect(secrets.length).toBeGreaterThan(4);
  // Both faces are drawn in the same hand: what the site's own styles say too is no part of the desk.
  const ofSite = readdirSync("site/styles")
    .map((name) => readFileSync(join("site/styles", name), "utf8"))
    .join("\n");
  const ofDesk = readdirSync("api/operator/desk").map((name) =>
    readFileSync(join("api/operator/desk", name), "utf8"),
  );
  // Long runs of the desk's own source: its words, its markup, its styles.
  const lines = ofDesk.flatMap((text) =>
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line.length > 60 && !line.startsWith("import") && !ofSite.includes(line))
      // The directory's mark stands on both.
      .filter((line) => !/^<(?:circle|path) /.test(line)),
  );
  expect(lines.length).toBeGreaterThan(100);
  const marks = [
    ...secrets,
    "almoner-desk",
    "operator-token",
    "/desk/sign-in",
    "/desk/desk.css",
    ...lines,
  ];
  const found: string[] = [];
  let files = 0;
  for await (const path of new Glob("**/*").scan({ cwd: join(folder, "public"), dot: true })) {
    files += 1;
    expect(path.split("/")).not.toContain("desk");
    const bytes = readFileSync(join(folder, "public", path));
    const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
    for (const mark of marks) if (text.includes(mark)) found.push(`${path}: ${mark.slice(0, 60)}`);
  }
  expect(files).toBeGreaterThan(150);
  expect(found).toEqual([]);
}, 240_000);
