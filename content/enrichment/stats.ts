import { agentFlags } from "./agent-id.ts";
import { wireTime } from "#content/contract/time.ts";
import { EnrichableField, SubmissionStatus } from "#content/contract/enrichment.ts";
import type { EnrichmentStats, Leaderboard } from "#content/contract/enrichment-answers.ts";
import type { Queryable } from "#content/store/open.ts";

/** Source: spec, "Limits"; decisions.md, "Leaderboard and exemplars". */
const recentMax = 10;
const topAgentsMax = 50;
const recentActivityMax = 20;
/** So many of the newest submissions are looked at for some that are no test data. */
const examinedMax = 500;

/** GET /api/enrichments/stats. The numbers are kept as rows, so a million submissions cost no more than ten. */
export async function enrichmentStats(store: Queryable): Promise<EnrichmentStats> {
  const counts = await enrichmentCounts(store);
  const agents = await store.raw.execute({ sql: "SELECT count(*) AS count FROM agents", args: [] });
  const recent = await newest(store, recentMax, { testData: true });
  const count = (name: string) => counts.get(name) ?? 0;
  return {
    total_enrichments: count("total"),
    unique_agents: Number(agents.rows[0]?.["count"] ?? 0),
    high_confidence: count("high_confidence"),
    by_status: SubmissionStatus.options.map((status) => ({
      status,
      count: count(`status:${status}`),
    })),
    by_field: EnrichableField.options.map((field) => ({ field, count: count(`field:${field}`) })),
    recent: recent.map(({ nonprofit_slug, field, agent_name, confidence, created_at }) => ({
      nonprofit_slug,
      field,
      agent_name,
      confidence,
      created_at,
    })),
  };
}

/** GET /api/agents/leaderboard: credit by applied submissions, test data left out. Index: agents_by_credit. */
export async function leaderboard(store: Queryable): Promise<Leaderboard> {
  const counts = await enrichmentCounts(store);
  const agents = await store.raw.execute({
    sql: "SELECT count(*) AS count FROM agents WHERE submissions > 0",
    args: [],
  });
  const { rows } = await store.raw.execute({
    sql: `SELECT agent_id, agent_name, submissions, applied, nonprofits_touched, last_seen FROM agents
          WHERE submissions > 0
          ORDER BY applied DESC, submissions DESC, last_seen DESC
          LIMIT ${topAgentsMax}`,
    args: [],
  });
  const recent = await newest(store, recentActivityMax, { testData: false });
  return {
    message:
      "Agents that completed profiles. Every submission that went live gives credit to the agents that agreed on it.",
    totals: {
      total_submissions: counts.get("public_submissions") ?? 0,
      total_applied: counts.get("public_applied") ?? 0,
      unique_agents: Number(agents.rows[0]?.["count"] ?? 0),
      nonprofits_improved: counts.get("nonprofits_improved") ?? 0,
    },
    top_agents: rows.map((row) => ({
      agent_name: String(row["agent_name"]),
      submissions: Number(row["submissions"]),
      applied: Number(row["applied"]),
      nonprofits_touched: Number(row["nonprofits_touched"]),
      last_seen: wireTime(new Date(Number(row["last_seen"]))),
      flags: agentFlags(String(row["agent_id"])),
    })),
    recent_activity: recent.map(({ agent_name, nonprofit_slug, field, status, created_at }) => ({
      agent_name,
      nonprofit_slug,
      field,
      status,
      created_at,
    })),
  };
}

async function enrichmentCounts(store: Queryable): Promise<Map<string, number>> {
  const { rows } = await store.raw.execute({
    sql: "SELECT name, count FROM enrichment_counts",
    args: [],
  });
  return new Map(rows.map((row) => [String(row["name"]), Number(row["count"])]));
}

type Recent = EnrichmentStats["recent"][number] & { status: SubmissionStatus };

/** The newest submissions, newest first; those of withdrawn nonprofits are in no statistic. */
async function newest(store: Queryable, limit: number, { testData }: { testData: boolean }) {
  const { rows } = await store.raw.execute({
    sql: `SELECT n.slug, s.field, s.agent_name, s.confidence, s.status, s.created_at
          FROM (SELECT * FROM submissions ORDER BY id DESC LIMIT ${examinedMax}) AS s
          JOIN nonprofits AS n ON n.id = s.nonprofit_id
          WHERE n.status <> 'withdrawn' AND (s.test_data = 0 OR ?)
          ORDER BY s.id DESC
          LIMIT ?`,
    args: [testData ? 1 : 0, limit],
  });
  return rows.map((row): Recent => ({
    nonprofit_slug: String(row["slug"]),
    field: String(row["field"]),
    agent_name: String(row["agent_name"]),
    confidence: Number(row["confidence"]),
    status: SubmissionStatus.parse(row["status"]),
    created_at: wireTime(new Date(Number(row["created_at"]))),
  }));
}
