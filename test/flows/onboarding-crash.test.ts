import { expect, test } from "bun:test";
import { OnboardingBody } from "#content/contract/onboarding.ts";
import { join } from "node:path";
import { onboard } from "#content/onboarding/onboard.ts";
import { openStore } from "#content/store/open.ts";
import { aNonprofit } from "../support/records.ts";
import { aWallet } from "../support/wallets.ts";
import { isFull } from "#test/support/measured.ts";
import { aDataFolder } from "#test/support/data-folder.ts";

const ofEach = isFull ? 60 : 15;
/** ALMONER_FULL_TESTS=1 kills more often. */
const killsMax = isFull ? 60 : 3;
const child = join(import.meta.dirname, "../support/onboard-child.ts");

test("kill -9 while approving: no claim, registration or change is half applied", async () => {
  const claimed = () =>
    ({ verified: 1, status: "claimed", usdc_wallet: aWallet().address }) as const;
  const profiles = Array.from({ length: 2 * ofEach }, (_, at) =>
    aNonprofit({
      slug: `profile-${at}`,
      country_code: null,
      causes: [],
      ...(at >= ofEach && claimed()),
    }),
  );
  using folder = await aDataFolder(profiles);
  const { databaseUrl: url, store, rows: ask } = folder;
  const now = () => new Date();
  const issuer = { host: "almoner.example", seal: (text: string) => String(text.length) };
  const verb = {
    store,
    clock: now,
    baseUrl: "https://almoner.example",
    issuer,
    statusToken: (id: string) => id,
    hostToken: (id: string) => id,
    addressSeal: (address: string) => address,
    linkSeal: (id: string) => id,
    config: { claimChecks: true, mail: null },
  };
  for (let at = 0; at < 3 * ofEach; at++) {
    const target =
      at < 2 * ofEach ? { claim_slug: `profile-${at}` } : { name: `Zebra ${at}`, country: "KE" };
    const body = { ...target, contact_email: "a@b.example", usdc_wallet: aWallet().address };
    const call = { idempotencyKey: null, network: null, countStored: () => {} };
    const sent = await onboard(verb, { ...call, body: OnboardingBody.parse(body) });
    expect(sent.ok).toBe(true);
  }
  const said = new Set<string>();
  let killed = 0;
  for (let round = 0; round < 200; round++) {
    const running = Bun.spawn([process.execPath, child, url], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const kill = killed < killsMax;
    const heard = listen(running.stdout, said, () => {
      // At a random moment of its work, not of its start.
      if (kill) setTimeout(() => running.kill("SIGKILL"), Math.random() * (isFull ? 60 : 30));
    });
    await running.exited;
    await heard;
    if (running.signalCode === "SIGKILL") killed++;
    expect(await ask(halfApplied)).toEqual([]);
    const [left] = await ask(
      "SELECT count(*) AS n FROM onboarding_submissions WHERE status = 'pending_review'",
    );
    if (left?.["n"] === 0) break;
  }
  expect(killed).toBeGreaterThan(isFull ? 3 : 1);
  const approved = await ask("SELECT id FROM onboarding_submissions WHERE status = 'approved'");
  expect(approved).toHaveLength(3 * ofEach);
  // Whatever was said to be done is done.
  const done = new Set(approved.map((row) => String(row["id"])));
  expect([...said].filter((id) => !done.has(id))).toEqual([]);
  // Asked again: SQLite 3.45 takes its own cache of an index that another connection changed for damage.
  using again = await openStore({ url });
  const checked = await again.raw.execute("PRAGMA integrity_check");
  expect(checked.rows[0]?.["integrity_check"]).toBe("ok");
});

/** Hears which approvals the child reports; the first line says that it begins. */
async function listen(output: ReadableStream<Uint8Array>, said: Set<string>, onReady: () => void) {
  let rest = "";
  for await (const chunk of output) {
    const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "ready") onReady();
      else said.add(line);
    }
  }
}

/** Submissions whose traces contradict each other: profile, wallet, hold, change row and audit log go together. */
const halfApplied = `
  SELECT s.id, s.type, s.status
  FROM onboarding_submissions AS s
  LEFT JOIN nonprofits AS n ON n.id = s.nonprofit_id
  LEFT JOIN wallet_holds AS h ON h.submission_id = s.id
  WHERE (s.status = 'approved') <> EXISTS (
      SELECT 1 FROM audit_log WHERE action = 'review.approved' AND subject = 'onboarding-' || s.id
    )
    OR CASE s.type
      WHEN 'change' THEN (s.status = 'approved') <> (h.status IS 'held')
        OR n.usdc_wallet IS s.request ->> 'usdc_wallet'
      WHEN 'claim' THEN (s.status = 'approved') <> (n.verified = 1 AND h.wallet IS s.request ->> 'usdc_wallet')
        OR (s.status = 'approved') <> EXISTS (
          SELECT 1 FROM changes WHERE nonprofit_id = n.id AND origin = 'onboarding'
        )
      ELSE (s.status = 'approved') <> (n.verified IS 1 AND n.name IS s.request ->> 'name')
        OR (s.status = 'approved') <> EXISTS (SELECT 1 FROM nonprofits WHERE name = s.request ->> 'name')
    END`;
