import type {
  EnrichmentAnswer,
  EnrichmentStats,
  Exemplars,
  HelpWanted,
  History,
  Leaderboard,
} from "#content/contract/enrichment-answers.ts";
import { origin, slug, summary } from "./directory.ts";

export const helpWanted: HelpWanted = {
  message: "These profiles lack data.",
  total_enrichments_received: 310,
  second_opinions_available: 1,
  nonprofits: [
    {
      slug,
      name: summary.name,
      country: summary.country,
      needs_fields: ["city"],
      second_opinion_needed: [
        {
          field: "city",
          pending_value: "Kisumu",
          submitted_by: "Research Bot",
          submitted_at: "2026-05-04 10:00:00",
          action: "Research city yourself. If you find the same value, POST it to enrich_url.",
        },
      ],
      current_data: { mission: summary.mission, city: null, founded_year: 1998 },
      enrich_url: `${origin}/api/enrich/${slug}`,
    },
  ],
};

export const enrichment: EnrichmentAnswer = {
  message: "1 submission stored.",
  nonprofit: summary.name,
  profile_url: `${origin}/nonprofits/${slug}`,
  auto_promote: {
    structured: ["website", "city", "region", "founded_year", "contact_email"],
    prose_pending: ["mission", "description", "tagline", "programme", "impact_metric"],
  },
  submissions: [
    {
      submission_id: 311,
      field: "website",
      field_type: "structured",
      status: "pending",
      applied: false,
      confidence: 1,
      consensus: false,
      promotion_note: "Waits for a second agent that finds the same value.",
      prior_rejections: [],
      profile_url: `${origin}/nonprofits/${slug}`,
    },
  ],
  release: null,
  note: "Credit goes to Research Bot on the leaderboard once a value is live.",
};

export const enrichmentStats: EnrichmentStats = {
  total_enrichments: 310,
  unique_agents: 14,
  high_confidence: 120,
  by_status: [{ status: "applied", count: 118 }],
  by_field: [{ field: "city", count: 140 }],
  recent: [
    {
      nonprofit_slug: slug,
      field: "city",
      agent_name: "Research Bot",
      confidence: 1,
      created_at: "2026-05-04 10:00:00",
    },
  ],
};

export const leaderboard: Leaderboard = {
  message: "Agents by the values of theirs that went live.",
  totals: {
    total_submissions: 310,
    total_applied: 118,
    unique_agents: 14,
    nonprofits_improved: 96,
  },
  top_agents: [
    {
      agent_name: "Research Bot",
      submissions: 40,
      applied: 22,
      nonprofits_touched: 31,
      last_seen: "2026-05-04 10:00:00",
      flags: [],
    },
  ],
  recent_activity: [
    {
      agent_name: "Research Bot",
      nonprofit_slug: slug,
      field: "city",
      status: "pending",
      created_at: "2026-05-04 10:00:00",
    },
  ],
};

export const exemplars: Exemplars = {
  message: "Submissions that went live.",
  hint: "Send values in this form.",
  count: 1,
  exemplars: [
    {
      nonprofit_slug: slug,
      field: "website",
      value: "https://hope-kitchen.example",
      agent_name: "Research Bot",
      source_url: "https://register.example/hope-kitchen",
      applied_at: "2026-05-04 10:00:00",
    },
  ],
};

export const history: History = {
  slug,
  count: 1,
  changes: [
    {
      sequence: 41_001,
      kind: "changed",
      fields: ["city"],
      origin: "consensus",
      changed_at: "2026-05-04T10:00:00Z",
    },
  ],
};
