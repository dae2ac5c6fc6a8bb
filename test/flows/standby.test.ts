import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { aServiceHere } from "#test/support/service-here.ts";
import { freePort, runScript, startService, untilAnswers } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";

let folder: string;
const children: Bun.Subprocess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "almoner-standby-"));
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const envOf = (machine: string, port = 0) => ({
  ALMONER_DATA_DIR: join(folder, machine),
  ALMONER_DATABASE_URL: "",
  ALMONER_PORT: String(port),
  ALMONER_BASE_URL: "https://directory.example",
  ALMONER_BACKUP_TO: join(folder, "backups"),
  ALMONER_BACKUP_PASSPHRASE: "of both machines",
});

async function submit(port: number, agent_id: string): Promise<unknown> {
  const source_url = "https://hope.example/contact";
  const answer = await fetch(`http://127.0.0.1:${port}/api/enrich/hope-kitchen`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ field: "city", value: "Oslo", source_url, agent_id }),
  });
  return answer.json();
}

const submissions = (status: string) => ({ submissions: [{ field: "city", status }] });

test("a standby serves what the writer that was killed had acknowledged before its backup", async () => {
  const [writerPort, standbyPort] = [await freePort(), await freePort()];
  const store = await openStore({ url: `file:${join(folder, "writer/store.db")}` });
  const saved = { before: null, after: aNonprofit({ slug: "hope-kitchen", city: null }) };
  await store.write((tx) => saveNonprofits(tx, [saved], { origin: "test", now: new Date() }));
  store.close();
  const writer = startService(envOf("writer", writerPort));
  children.push(writer);
  await untilAnswers(`http://127.0.0.1:${writerPort}/healthz`, writer);
  expect(await submit(writerPort, "agent-one")).toMatchObject(submissions("pending"));
  expect((await runScript("backup", [], envOf("writer"))).code).toBe(0);
  writer.kill("SIGKILL");
  await writer.exited;

  const { ALMONER_BACKUP_TO: from } = envOf("standby");
  const restored = await runScript("restore", ["--from", from, "--no-publish"], envOf("standby"));
  expect(restored.err + restored.out).toContain("is restored");
  const { ALMONER_DATA_DIR: dataDir, ...settings } = envOf("standby", standbyPort);
  const standby = await aServiceHere(dataDir, settings);
  // The second agent agrees with what the first one had sent.
  expect(await submit(standbyPort, "agent-two")).toMatchObject(submissions("applied"));
  await standby.stop();
}, 60_000);
