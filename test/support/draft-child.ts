import { draftRecommendation } from "#content/recommendation/draft-recommendation.ts";
import { openStore } from "#content/store/open.ts";

/**
 * A process of its own that drafts the same recommendations as its twin: `bun draft-child.ts <url> <agent> <slug,slug,…>`.
 * Answers how often it was told that its draft promoted the profile, as JSON.
 */
const [url = "", agent = "", list = ""] = process.argv.slice(2);
const store = await openStore({ url, busyWaitMs: 20_000, migrated: true });
let promoted = 0;
const parts = {
  store,
  clock: () => new Date("2026-06-01T12:00:00Z"),
  baseUrl: "http://localhost",
  phase: 3 as const,
  mode: "agents" as const,
  takeAgent: () => Promise.resolve({ allowed: true, retryAfterMs: 0 }),
  onRecommended: () => {
    promoted += 1;
  },
};
const slugs = list.split(",");
const outcomes = await Promise.all(
  slugs.map((slug) =>
    draftRecommendation(parts, {
      body: {
        slug,
        recommended_for: ["donors interested in wells"],
        why_recommended: `In the words of ${agent}: mends wells and says what they cost.`,
        source_url: `https://${agent}.example/${slug}`,
        agent_id: agent,
      },
      idempotencyKey: null,
      network: null,
      secret: null,
    }),
  ),
);
store.close();
process.stdout.write(
  JSON.stringify({ promoted, refused: outcomes.filter(({ ok }) => !ok).length }),
);
