import { expect, test } from "bun:test";
import { aServiceHere } from "#test/support/service-here.ts";
import { runScript } from "#test/support/processes.ts";
import { theOnboardingService } from "../support/onboarding.ts";
import { until } from "../support/until.ts";
import { aNonprofit } from "../support/records.ts";
import { aWallet } from "../support/wallets.ts";

const hourMs = 3_600_000;
const service = await theOnboardingService();

/** A claimed profile with a changed wallet that was approved this many hours ago. */
async function aHeldChange(slug: string, hoursAgo: number) {
  const before = aWallet().address;
  const after = aWallet().address;
  await service.add(aNonprofit({ slug, usdc_wallet: before, verified: 1, status: "claimed" }));
  service.pass(Date.now() - hoursAgo * hourMs - service.now());
  const { submission_id } = await service.submit({
    claim_slug: slug,
    contact_email: "office@holder.example",
    usdc_wallet: after,
  });
  expect((await service.decide(`onboarding-${submission_id}`, "approve")).status).toBe(200);
  return { before, after, id: `hold-${submission_id}` };
}

const wallets = async (...slugs: string[]) =>
  Promise.all(slugs.map(async (slug) => (await service.live(slug)).usdc_wallet));

test("a hold outlives the process: what ends while nothing runs takes effect at the next start, what was stopped or is not due does not", async () => {
  const due = await aHeldChange("due", 73);
  const stopped = await aHeldChange("stopped", 71);
  const young = await aHeldChange("young", 70);
  const { dataDir, databaseUrl } = service.context.config;
  const { out, code } = await runScript(
    "review",
    ["reject", stopped.id, "--reason", "They did not ask for it."],
    { ALMONER_DATA_DIR: dataDir, ALMONER_DATABASE_URL: databaseUrl, ALMONER_NETWORK: "local" },
  );
  expect([code, out]).toEqual([0, expect.stringContaining("The change is stopped")]);
  expect(await wallets("due", "stopped", "young")).toEqual([
    due.before,
    stopped.before,
    young.before,
  ]);
  const started = await aServiceHere(dataDir, {
    ALMONER_DATABASE_URL: databaseUrl,
    ALMONER_NETWORK: "local",
  });
  await until(
    "the wallet that is due",
    async () => (await service.live("due")).usdc_wallet === due.after,
  );
  await started.stop();
  expect(await wallets("stopped", "young")).toEqual([stopped.before, young.before]);
  const rows = await service.rows("SELECT status, reason FROM wallet_holds ORDER BY approved_at");
  expect(rows.map((row) => [row["status"], row["reason"]])).toEqual([
    ["in_effect", null],
    ["stopped", "They did not ask for it."],
    ["held", null],
  ]);
});
