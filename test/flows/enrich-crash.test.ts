import { expect, test } from "bun:test";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aDataFolder, aRunningService } from "#test/support/data-folder.ts";

/** Promise 1 says 200 kills: ALMONER_FULL_TESTS=1 does them all, else fewer. */
const kills = isFull ? 200 : 2;

test(`${kills} × kill -9 amid submissions: none acknowledged is lost, none is half done`, async () => {
  const nonprofits = Array.from({ length: 40 }, () => aNonprofit());
  const { dataDir, slugs, rows, close } = await aDataFolder(nonprofits);
  const acknowledged: number[] = [];
  let sent = 0;
  const submitting = async (url: string, isOver: () => boolean) => {
    while (!isOver()) {
      const at = sent++;
      const slug = slugs[at % slugs.length];
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
    const service = await aRunningService(dataDir, { ALMONER_TRUSTED_HOPS: "1" });
    let over = false;
    const senders = Array.from({ length: isFull ? 16 : 8 }, () =>
      submitting(service.url, () => over),
    );
    // However slow the machine is, some of this round are acknowledged before the kill.
    const before = acknowledged.length;
    while (acknowledged.length < before + 6) await Bun.sleep(5);
    await Bun.sleep(Math.random() * 350);
    const killed = service.stop("SIGKILL");
    over = true;
    await Promise.all([killed, ...senders]);
  }
  const count = async (sql: string) => Number((await rows(sql))[0]?.["count"]);
  expect(acknowledged.length).toBeGreaterThan(kills * 5);
  const stored = new Set((await rows("SELECT id FROM submissions")).map(({ id }) => Number(id)));
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
  expect(await rows("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  measured(
    `${kills} kills, ${shown(acknowledged.length)} acknowledged, none lost, ${shown(applied)} applied`,
  );
  close();
}, 900_000);
