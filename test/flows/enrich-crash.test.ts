import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "#content/store/open.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { freePort, startService, untilAnswers } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";

/** Promise 1 says 200 kills: ALMONER_FULL_TESTS=1 does them all, else fewer. */
const kills = isFull ? 200 : 6;
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

test(`${kills} × kill -9 amid submissions: none acknowledged is lost, none is half done`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "almoner-enrich-crash-"));
  const databaseUrl = `file:${join(folder, "store.db")}`;
  const store = await openStore({ url: databaseUrl, busyWaitMs: 10_000 });
  const saves = Array.from({ length: 40 }, () => ({ before: null, after: aNonprofit() }));
  const records = await store.write((tx) =>
    saveNonprofits(tx, saves, { origin: "test", now: new Date() }),
  );
  const acknowledged: number[] = [];
  let sent = 0;
  const submitting = async (isOver: () => boolean) => {
    while (!isOver()) {
      const at = sent++;
      const slug = records[at % records.length]?.slug ?? "";
      // Pairs agree now and then, so that kills meet applications, too.
      const body = {
        field: "city",
        value: `City ${"abcdefghij"[at % 10]}`,
        agent_id: `agent-${at}`,
      };
      const headers = {
        "content-type": "application/json",
        "x-forwarded-for": `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`,
      };
      const answer = await fetch(`${url}/api/enrich/${slug}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      }).catch(() => null);
      const told = (await answer?.json().catch(() => null)) as
        | { submissions?: { submission_id: number }[] }
        | null
        | undefined;
      if (answer?.status === 200) acknowledged.push(told?.submissions?.[0]?.submission_id ?? -1);
    }
  };
  for (let kill = 0; kill < kills; kill++) {
    const child = startService({
      ALMONER_DATA_DIR: folder,
      ALMONER_DATABASE_URL: databaseUrl,
      ALMONER_PORT: String(port),
      ALMONER_TRUSTED_HOPS: "1",
    });
    await untilAnswers(`${url}/healthz`, child);
    let over = false;
    const senders = Array.from({ length: 16 }, () => submitting(() => over));
    // However slow the machine is, some of this round are acknowledged before the kill.
    const before = acknowledged.length;
    while (acknowledged.length < before + 6) await Bun.sleep(5);
    await Bun.sleep(Math.random() * 350);
    child.kill("SIGKILL");
    over = true;
    await Promise.all([child.exited, ...senders]);
  }
  const count = async (sql: string) => Number((await store.raw.execute(sql)).rows[0]?.["count"]);
  expect(acknowledged.length).toBeGreaterThan(kills * 5);
  const { rows } = await store.raw.execute("SELECT id FROM submissions");
  const stored = new Set(rows.map((row) => Number(row["id"])));
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  // A transaction is there as a whole: the counters count what is stored, and each application has its change.
  expect(
    await count("SELECT sum(count) AS count FROM enrichment_counts WHERE name LIKE 'status:%'"),
  ).toBe(stored.size);
  expect(await count("SELECT sum(submissions) AS count FROM agents")).toBe(stored.size);
  const applied = await count(
    "SELECT count(DISTINCT nonprofit_id) AS count FROM submissions WHERE status = 'applied'",
  );
  expect(await count("SELECT count(*) AS count FROM changes WHERE origin = 'consensus'")).toBe(
    applied,
  );
  expect(await count("SELECT count(*) AS count FROM nonprofits WHERE city IS NOT NULL")).toBe(
    applied,
  );
  const checked = await store.raw.execute("PRAGMA integrity_check");
  expect(checked.rows[0]?.["integrity_check"]).toBe("ok");
  measured(
    `${kills} kills, ${shown(acknowledged.length)} acknowledged, none lost, ${shown(applied)} applied`,
  );
  store.close();
  rmSync(folder, { recursive: true, force: true });
}, 900_000);
