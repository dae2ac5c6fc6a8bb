import { expect, test } from "bun:test";
import { refuseSample } from "#api/giving/start-giving.ts";
import { openStore } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { putCompiledSite, runScript } from "#test/support/processes.ts";
import { aService } from "#test/support/service.ts";
import { aFolder } from "#test/support/at-file-top.ts";

test("a store with a sample is never served where money is real", async () => {
  using store = await openStore({ url: ":memory:" });
  await refuseSample({ network: "solana" }, store);
  await seedDirectory(store, { profiles: 5, seedNumber: 3 });
  const refused = refuseSample({ network: "solana" }, store);
  expect(refused).rejects.toThrow("ALMONER_NETWORK: the store holds invented nonprofits");
  await refused.catch(() => {});
  for (const network of ["local", "solana-devnet"] as const) await refuseSample({ network }, store);
});

test("no receipt is signed for a gift that a sample invented", async () => {
  using service = await aService();
  await seedDirectory(service.context.store, { profiles: 40, seedNumber: 1 });
  const [gift] = (
    await service.context.store.raw.execute(
      "SELECT d.id, slug FROM donations AS d JOIN nonprofits AS n ON n.id = nonprofit_id LIMIT 1",
    )
  ).rows;
  const answer = await service.get(
    `/api/donations/${String(gift?.["slug"])}/${String(gift?.["id"])}`,
  );
  expect(answer.status).toBe(409);
  expect(await answer.json()).toMatchObject({ code: "donation_invented" });
});

test.each(["start", "seed"])("bun run %s makes no sample where money is real", async (command) => {
  using dataDir = aFolder();
  // A start would compile its own meanwhile.
  await putCompiledSite(dataDir());
  const { code, err } = await runScript(command, ["--profiles", "3"], {
    ALMONER_DATA_DIR: dataDir(),
    ALMONER_NETWORK: "solana",
    ALMONER_SOLANA_RPC_URLS: "http://127.0.0.1:1",
  });
  expect([code, err]).toEqual([2, expect.stringContaining("money is real")]);
});
