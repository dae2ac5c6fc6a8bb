import { afterAll, beforeAll, expect, test } from "bun:test";
import type { PaymentRequirements, Settlement } from "#content/contract/donation.ts";
import type { Donor } from "#test/support/donor.ts";
import { paymentHeader } from "#test/support/donating.ts";
import { aChain, type TestChain } from "#test/support/local-chain.ts";
import { aNonprofit } from "#test/support/records.ts";
import { isFull } from "#test/support/measured.ts";
import { aDataFolder, aRunningService, type DataFolder } from "#test/support/data-folder.ts";
import { aServiceHere } from "#test/support/service-here.ts";

const kills = isFull ? 20 : 2;
const donors = isFull ? [0, 1, 0, 1] : [0, 1];
/** After each gift: of what they cost, most is the chain, which is not killed. */
const restMs = isFull ? 0 : 150;
/** Promise 7 says 1,000: ALMONER_FULL_TESTS=1 sends them all, else fewer. */
const posts = isFull ? 1_000 : 90;

let chain: TestChain;
let folder: DataFolder;
let wallet: string;
let shared: string;
/** Two processes; an ordinary run kills the second of them, and has the first in its own. */
let running: { url: string; stop: (signal?: "SIGKILL") => Promise<void> }[];

const start = (isHere: boolean) =>
  (isHere ? aServiceHere : aRunningService)(folder.dataDir, {
    ...chain.env,
    ALMONER_TRUSTED_HOPS: "1",
  });

beforeAll(async () => {
  chain = await aChain({ now: () => new Date() });
  [wallet, shared] = [chain.wallet(), chain.wallet()];
  folder = await aDataFolder([
    aNonprofit({ slug: "well", usdc_wallet: wallet }),
    aNonprofit({ slug: "one", usdc_wallet: shared }),
    aNonprofit({ slug: "two", usdc_wallet: shared }),
  ]);
  running = await Promise.all([start(!isFull), start(false)]);
});

afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  folder.close();
  await chain.stop();
});

let clients = 0;
const ask = (at: number, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${running[at % 2]?.url}${path}`, {
    ...init,
    headers: {
      ...(init.headers as Record<string, string>),
      "x-forwarded-for": `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients++ & 255}`,
    },
  });
const prove = (at: number, slug: string, tx_signature: string) =>
  ask(at, `/api/donate/${slug}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tx_signature }),
  });
const rows = (where: string) =>
  folder.rows(`SELECT tx_signature, nonprofit_id FROM donations WHERE ${where}`);

test("one signature many times at once, over two processes and three slugs: a row per paid wallet", async () => {
  const payment = chain.donor().pay({
    to: [
      { to: wallet, usdc: "2" },
      { to: shared, usdc: "3" },
    ],
  });
  chain.land(payment);
  await Promise.all(
    ["well", "one"].flatMap((slug) => [0, 1].map((at) => ask(at, `/api/donations/${slug}`))),
  );
  const slugs = ["well", "one", "two"];
  const answers = await Promise.all(
    Array.from({ length: posts }, async (_, n) => {
      const slug = slugs[n % slugs.length] ?? "";
      const response = await prove(Math.floor(n / 3), slug, payment.signature);
      const { code = "settled", donation_id = "" } =
        (await response.json()) as Partial<Settlement> & { code?: string };
      return `${slug} ${response.status} ${code} ${donation_id}`;
    }),
  );
  const different = [...new Set(answers)].toSorted();
  // Of the two that share a wallet the first to be recorded has it; all others hear so.
  expect(different).toHaveLength(3);
  expect(different.filter((one) => one.includes("200 settled"))).toHaveLength(2);
  expect(different.filter((one) => one.includes("409 recorded_elsewhere"))).toHaveLength(1);
  expect(await rows(`tx_signature = '${payment.signature}'`)).toHaveLength(2);
});

/** A sponsored payment of 2 USDC; answers its status. */
async function pay(at: number, donor: Donor): Promise<number> {
  const answer = await ask(at, "/api/donate/well?amount=2");
  const { accepts, memo, recipient } = (await answer.json()) as PaymentRequirements;
  const feePayer = accepts[0]?.extra.feePayer ?? "";
  const { bytes } = donor.pay({ to: recipient, usdc: "2", memo, feePayer });
  const headers = paymentHeader(bytes, 1, "solana-devnet");
  return (await ask(at, "/api/donate/well", { headers })).status;
}

test("two payments of the same money, one to each process: the sponsor pays for one", async () => {
  const donor = chain.donor({ usdc: "2.5" });
  const before = chain.lamportsOf(chain.sponsor.publicKey.toBase58());
  const answers = await Promise.all([0, 1].map((at) => pay(at, donor)));
  expect(answers.toSorted((a, b) => a - b)).toEqual([200, 402]);
  expect(before - chain.lamportsOf(chain.sponsor.publicKey.toBase58())).toBe(10_001);
});

test("processes are killed while they settle: every payment that landed is recorded, once", async () => {
  let stop = false;
  let taken = 0;
  const donate = async (at: number): Promise<void> => {
    while (!stop) {
      try {
        if ((await pay(at, chain.donor())) === 200) taken += 1;
        await Bun.sleep(restMs);
      } catch {
        await Bun.sleep(20); // The process is down.
      }
    }
  };
  const giving = donors.map(donate);
  for (let n = 0; n < kills; n++) {
    await Bun.sleep(100 + Math.random() * 300);
    const at = isFull ? n % 2 : 1;
    await running[at]?.stop("SIGKILL");
    running[at] = await start(false);
  }
  stop = true;
  await Promise.all(giving);
  expect(taken).toBeGreaterThan(kills);
  const given = () => chain.usdcOf(wallet) / 2_000_000n;
  const recorded = async () => BigInt((await rows("nonprofit_id = 1")).length);
  const deadlineMs = performance.now() + 60_000;
  const isWaiting = async () =>
    (await folder.rows("SELECT 1 FROM donation_intents WHERE status = 'waiting'")).length > 0;
  while (performance.now() < deadlineMs && ((await isWaiting()) || (await recorded()) < given())) {
    await Bun.sleep(500);
  }
  expect([await recorded(), await isWaiting()]).toEqual([given(), false]);
  expect(await rows("nonprofit_id = 1 GROUP BY tx_signature HAVING count(*) > 1")).toEqual([]);
});
