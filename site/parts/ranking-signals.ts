/** The ranking weights as people read them. Source: spec, "Ranking weights"; decisions, "Recommendation". */
export const rankingSignals = [
  {
    signal: "editorial_curation_for_starter_set",
    points: "+50",
    meaning: "The operator picked the profile by hand; ends with 2026",
  },
  {
    signal: "verified_status",
    points: "+30",
    meaning: "The organisation claimed its profile and a reviewer approved the claim",
  },
  {
    signal: "donation_wallet_present",
    points: "+20",
    meaning: "A USDC wallet is set, so a gift can go straight to the organisation",
  },
  {
    signal: "mission_match_strength",
    points: "0 to +25",
    meaning: "How well the text matches the words of the query, against the best match",
  },
  {
    signal: "source_provenance_recent",
    points: "0 to +15",
    meaning: "How recently agents agreed on a value; halves every 90 days",
  },
  {
    signal: "donation_history",
    points: "0 to +10",
    meaning: "2 × the natural logarithm of 1 plus the number of recorded donations",
  },
  {
    signal: "thin_profile_penalty",
    points: "−20",
    meaning: "Three or more of the seven wanted fields are empty",
  },
] as const;
