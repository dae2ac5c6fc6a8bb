import { decideReview } from "#api/operator/requests.ts";
import { openStore } from "#content/store/open.ts";
import { onboardingStore } from "#content/onboarding/store.ts";

/** A process of its own that approves all that waits, one after another: `bun onboard-child.ts <url>`. Meant to be killed. */
const [url = ""] = process.argv.slice(2);
const store = await openStore({ url, busyWaitMs: 10_000, migrated: true });
const config = { walletHoldMs: 72 * 3_600_000, walletApprovals: 1 as const };
const context = { store, clock: () => new Date(), config };
const waiting = await onboardingStore.steps.page(store, { after: null, limit: 10_000 });
process.stdout.write("ready\n");
for (const { id } of waiting) {
  const call = {
    id: `onboarding-${id}`,
    decision: "approved" as const,
    operator: "child",
    value: null,
    reason: null,
  };
  const done = await decideReview(context, call);
  if (done.ok) process.stdout.write(`${id}\n`);
}
store.close();
