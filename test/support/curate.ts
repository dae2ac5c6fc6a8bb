import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { saveCuratedPicks } from "#content/recommendation/pick-store.ts";
import type { TestService } from "./service.ts";

/** Stores nonprofits as new and as those that the operator picked for recommendations. */
export async function curate(service: TestService, ...records: NonprofitRecord[]): Promise<void> {
  const picks = (await service.add(...records)).map(({ id }) => ({
    nonprofit_id: id,
    recommended_for: ["donors interested in health"],
    why_recommended: "It reports what it does.",
  }));
  await service.store.write((tx) => saveCuratedPicks(tx, picks));
}

/** What an agent sends to recommend a nonprofit. */
export const aDraft = (slug: string, agent_id: string, parts: object = {}) => ({
  slug,
  agent_id,
  recommended_for: ["donors interested in wells"],
  why_recommended: "Mends wells and says what they cost.",
  source_url: "https://register.example/1",
  ...parts,
});
