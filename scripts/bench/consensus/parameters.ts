import type { SimulationParameters } from "#content/contract/consensus-simulation.ts";

/**
 * The published run. Assumptions, not measurements: docs/consensus.md says why these, and what changes with others.
 * Small enough to be computed anew in each test run.
 */
export const publishedParameters: SimulationParameters = {
  seeds: [1, 2, 3, 4, 5],
  profiles: 400,
  days: 14,
  honest_agents: 8,
  honest_sharing_a_network: 3,
  visits_per_agent_and_day: 12,
  finds_percent: 75,
  mistakes_percent: 3,
  misleading_sources_percent: 4,
  misled_percent: 40,
  other_spelling_percent: 5,
  unchecked_percent: 10,
  attack_begins_on_day: 3,
  attack_requests: 300,
};
