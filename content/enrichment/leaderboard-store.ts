import {
  type EnrichmentStats,
  type Exemplars,
  Leaderboard,
} from "#content/contract/enrichment-answers.ts";
import {
  EnrichableField,
  enrichableFields,
  SubmissionStatus,
} from "#content/contract/enrichment.ts";
import { wireTime } from "#content/contract/time.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { directoryFact } from "#content/operation/directory-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { agentFlags } from "./agent.ts";

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

const name = "leaderboard";

/**
 * Keeps the leaderboard as a fact of the directory: submissions come without a change of public data, and published
 * pages depend on such facts alone. Does nothing when it is as before; call it every few minutes.
 */
export async function saveLeaderboard(store: Store, now: Date): Promise<void> {
  const value = JSON.stringify(await leaderboard(store));
  await store.write((tx) => saveDirectoryFact(tx, { name, value, now }));
}

/** The leaderboard as it was last kept, null before the first time. */
export async function storedLeaderboard(store: Queryable): Promise<Leaderboard | null> {
  const value = await directoryFact(store, name);
  return value === null ? null : (Leaderboard.safeParse(JSON.parse(value)).data ?? null);
}

/** Fields whose applied values are public: e-mail addresses never are. */
export const exemplarFields = enrichableFields.filter((field) => field !== "contact_email");

/**
 * GET /api/agents/exemplars: submissions that went live, the newest first, one for each field of a nonprofit (the
 * earliest agreeing one). Index: submissions_applied.
 */
export async function exemplars(
  store: Queryable,
  { field, limit }: { field: EnrichableField | null; limit: number },
): Promise<Exemplars> {
  const found: { row: Exemplars["exemplars"][number]; at: number; key: string }[] = [];
  for (const one of exemplarFields) {
    if (field !== null && field !== one) continue;
    const { rows } = await store.raw.execute({
      sql: `SELECT n.slug, s.value, s.winning_value, s.agent_name, s.source_url, s.decided_at
            FROM submissions AS s
            JOIN nonprofits AS n ON n.id = s.nonprofit_id
            WHERE s.status = 'applied' AND s.field = ? AND s.test_data = 0 AND n.status <> 'withdrawn'
            ORDER BY s.decided_at DESC, s.id
            LIMIT ?`,
      args: [one, limit * 3],
    });
    for (const row of rows) {
      const at = Number(row["decided_at"]);
      found.push({
        at,
        key: `${String(row["slug"])} ${one} ${at}`,
        row: {
          nonprofit_slug: String(row["slug"]),
          field: one,
          // What a reviewer made of a prose text is what went live.
          value: String(row["winning_value"] ?? row["value"]),
          agent_name: String(row["agent_name"]),
          source_url: row["source_url"] === null ? null : String(row["source_url"]),
          applied_at: wireTime(new Date(at)),
        },
      });
    }
  }
  const seen = new Set<string>();
  const once = found.filter(({ key }) => !seen.has(key) && seen.add(key));
  const shown = once.toSorted((a, b) => b.at - a.at).slice(0, limit);
  return {
    message: "Submissions that went live. Use them as templates for the form of a value.",
    hint: "A structured field needs a second agent with the same value; name the page where you found it in source_url.",
    count: shown.length,
    exemplars: shown.map(({ row }) => row),
  };
}
