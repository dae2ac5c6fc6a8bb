import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { aDataFolder, aRunningService } from "#test/support/data-folder.ts";
import { aServiceHere } from "#test/support/service-here.ts";
import { runScript } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";

const writer = await aDataFolder([aNonprofit({ slug: "hope-kitchen", city: null })]);
afterAll(writer.close);

const backups = join(writer.dataDir, "backups");
const env = {
  ALMONER_BASE_URL: "https://directory.example",
  ALMONER_BACKUP_TO: backups,
  ALMONER_BACKUP_PASSPHRASE: "of both machines",
};

async function submit(url: string, agent_id: string): Promise<unknown> {
  const source_url = "https://hope.example/contact";
  const answer = await fetch(`${url}/api/enrich/hope-kitchen`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ field: "city", value: "Oslo", source_url, agent_id }),
  });
  return answer.json();
}

const submissions = (status: string) => ({ submissions: [{ field: "city", status }] });

test("a standby serves what the writer that was killed had acknowledged before its backup", async () => {
  const { url, stop } = await aRunningService(writer.dataDir, env);
  expect(await submit(url, "agent-one")).toMatchObject(submissions("pending"));
  const onWriter = { ...env, ALMONER_DATA_DIR: writer.dataDir };
  expect((await runScript("backup", [], onWriter)).code).toBe(0);
  await stop("SIGKILL");

  const dataDir = join(writer.dataDir, "standby");
  const onStandby = { ...env, ALMONER_DATA_DIR: dataDir };
  const restored = await runScript("restore", ["--from", backups, "--no-publish"], onStandby);
  expect(restored.err + restored.out).toContain("is restored");
  const standby = await aServiceHere(dataDir, env);
  // The second agent agrees with what the first one had sent.
  expect(await submit(standby.url, "agent-two")).toMatchObject(submissions("applied"));
  await standby.stop();
});
