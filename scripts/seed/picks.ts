import { describeFaults, wordingFaults } from "#content/recommendation/wording.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { CuratedPick } from "#content/recommendation/pick-store.ts";
import causes from "./causes.json";
import { type Outline, round } from "./outline.ts";
import { sentencesOf } from "./prose.ts";
import { slotsOf } from "./texts.ts";

/** Verified profiles take the causes in turn, so that the first 58 cover each of the 29 twice. */
const verifiedPicks = 58;
const unverifiedPicks = 24;

/** Whether the sample's starter set holds the profile at this place: 58 verified ones, and 24 that are not. */
export const isPicked = ({ index, tier }: Pick<Outline, "index" | "tier">): boolean =>
  (tier === "verified" && index < verifiedPicks * round) ||
  (tier === "rich" && index % (2 * round) === 1 && index < unverifiedPicks * 2 * round);

/** What the sample's curation says of a stored profile. Throws when a sentence claims too much. */
export function pickOf(
  outline: Outline,
  record: NonprofitRecord,
): Pick<CuratedPick, "nonprofit_id" | "recommended_for" | "why_recommended"> {
  const values = {
    ...slotsOf(outline, record),
    interest: causes[outline.causes[0]].interest,
    giving: record.donation_url === null ? null : "the organisation's own donation page",
    programs: ["no", "one", "two", "three", "four"][record.programs.length] ?? "several",
  };
  const pick = {
    nonprofit_id: record.id,
    recommended_for: sentencesOf(outline.random, "intents", values, 2),
    why_recommended: sentencesOf(
      outline.random,
      record.verified === 1 ? "reasons" : "reasons_unverified",
      values,
      1,
    ).join(" "),
  };
  const faults = [...pick.recommended_for, pick.why_recommended].flatMap(wordingFaults);
  if (faults.length > 0) throw new Error(`sample ${record.slug}: ${describeFaults(faults)}`);
  return pick;
}
