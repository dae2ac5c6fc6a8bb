import type { Leaderboard } from "#content/shapes/enrichment-answers.ts";
import type { Asked } from "#content/store/records.ts";

/** What the page of agents shows. */
export const leaderboardOf = (_asked: Asked): Promise<Leaderboard> => Promise.resolve(noAgentsYet);

const noAgentsYet: Leaderboard = {
  message: "",
  totals: { total_submissions: 0, total_applied: 0, unique_agents: 0, nonprofits_improved: 0 },
  top_agents: [],
  recent_activity: [],
};
