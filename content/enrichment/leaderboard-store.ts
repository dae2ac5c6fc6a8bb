import type { z } from "zod";
import { and, count, desc, eq, getTableColumns, gt, like, ne, sql, sum } from "drizzle-orm";
import { EnrichmentStats, Exemplars, Leaderboard } from "#content/contract/enrichment-answers.ts";
import {
  EnrichableField,
  enrichableFields,
  exemplarsLimit,
  SubmissionStatus,
} from "#content/contract/enrichment.ts";
import { wireTime } from "#content/contract/base/time.ts";
import { publicName, shownSource } from "#content/nonprofit/public-name.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { directoryFact, jsonFact } from "#content/store/facts.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import {
  agentKeys,
  agents,
  enrichmentCounts,
  submissions,
} from "#content/store/tables/enrichment.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { agentFlags, isBound, vouchedName } from "./agent.ts";

const recentMax = 10;
const topAgentsMax = 50;
const recentActivityMax = 20;
/** How many of the newest submissions are searched for ones that are not test data. */
const examinedMax = 500;

/** GET /api/enrichments/stats. Triggers keep these counts up to date, so the cost does not grow with the submissions. */
export async function enrichmentStats(store: Queryable): Promise<EnrichmentStats> {
  const counts = await counters(store);
  const counted = (name: string) => counts.get(name) ?? 0;
  const recent = await newest(store, recentMax, { testData: true });
  return {
    total_enrichments: await submissionCount(store),
    unique_agents: await store.db.$count(agents),
    high_confidence: counted("high_confidence"),
    by_status: SubmissionStatus.options.map((status) => ({
      status,
      count: counted(`status:${status}`),
    })),
    by_field: EnrichableField.options.map((field) => ({ field, count: counted(`field:${field}`) })),
    recent: recent.map(({ nonprofit_slug, field, agent_name, confidence, created_at }) => ({
      nonprofit_slug,
      field,
      agent_name,
      confidence,
      created_at,
    })),
  };
}

/** How many submissions ever came in. */
export async function submissionCount(store: Queryable): Promise<number> {
  const [row] = await store.db
    .select({ count: sum(enrichmentCounts.count).mapWith(Number) })
    .from(enrichmentCounts)
    .where(like(enrichmentCounts.name, "status:%"));
  return row?.count ?? 0;
}

/** GET /api/agents/leaderboard: ranks agents by applied submissions, without test data. Index: agents_by_credit. */
export async function leaderboard(store: Queryable): Promise<Leaderboard> {
  const [totals] = await store.db
    .select({
      submissions: sum(agents.submissions).mapWith(Number),
      applied: sum(agents.applied).mapWith(Number),
      count: count(),
    })
    .from(agents)
    .where(gt(agents.submissions, 0));
  const top = await store.db
    .select({ ...getTableColumns(agents), key: getTableColumns(agentKeys) })
    .from(agents)
    .leftJoin(agentKeys, eq(agentKeys.agent_id, agents.agent_id))
    .where(gt(agents.submissions, 0))
    .orderBy(desc(agents.applied), desc(agents.submissions), desc(agents.last_seen))
    .limit(topAgentsMax);
  const recent = await newest(store, recentActivityMax, { testData: false });
  return {
    message:
      "Agents that completed profiles. Every submission that went live gives credit to the agents that agreed on it.",
    totals: {
      total_submissions: totals?.submissions ?? 0,
      total_applied: totals?.applied ?? 0,
      unique_agents: totals?.count ?? 0,
      nonprofits_improved: (await counters(store)).get("nonprofits_improved") ?? 0,
    },
    top_agents: top.map(({ agent_id, agent_name, last_seen, key, ...counts }) => ({
      agent_name: vouchedName(agent_id, key) ?? publicName({ agent_id, agent_name }),
      ...counts,
      last_seen: wireTime(new Date(last_seen)),
      bound: isBound(key),
      flags: agentFlags(agent_id),
    })),
    recent_activity: recent.map((activity) => ({
      agent_name: activity.agent_name,
      nonprofit_slug: activity.nonprofit_slug,
      nonprofit_name: activity.nonprofit_name,
      field: activity.field,
      status: activity.status,
      created_at: activity.created_at,
    })),
  };
}

async function counters(store: Queryable): Promise<Map<string, number>> {
  const rows = await store.db.select().from(enrichmentCounts);
  return new Map(rows.map((row) => [row.name, row.count]));
}

/** The newest submissions, newest first, without those of withdrawn nonprofits. */
async function newest(store: Queryable, limit: number, { testData }: { testData: boolean }) {
  const some = store.db
    .select()
    .from(submissions)
    .orderBy(desc(submissions.id))
    .limit(examinedMax)
    .as("some");
  const { field, agent_id, agent_name, confidence, status, created_at } = some;
  const named = { nonprofit_slug: nonprofits.slug, nonprofit_name: nonprofits.name };
  const rows = await store.db
    .select({ ...named, field, agent_id, agent_name, confidence, status, created_at })
    .from(some)
    .innerJoin(nonprofits, eq(nonprofits.id, some.nonprofit_id))
    .where(and(ne(nonprofits.status, "withdrawn"), testData ? undefined : eq(some.test_data, 0)))
    .orderBy(desc(some.id))
    .limit(limit);
  return rows.map((row) => ({
    ...row,
    agent_name: publicName(row),
    created_at: wireTime(new Date(row.created_at)),
  }));
}

/** Fields whose applied values are public; e-mail addresses are never public. */
export const exemplarFields = enrichableFields.filter((field) => field !== "contact_email");

/**
 * GET /api/agents/exemplars: submissions that went live, newest first, at most one for each field of a nonprofit (the
 * earliest that agreed). Index: submissions_applied.
 */
export async function exemplars(
  store: Queryable,
  { field, limit }: { field: EnrichableField | null; limit: number },
): Promise<Exemplars> {
  const byName = new Map<string, { at: number; row: Exemplars["exemplars"][number] }>();
  for (const exemplar of exemplarFields) {
    if (field !== null && field !== exemplar) continue;
    const { value, winning_value, agent_id, agent_name, source_url, decided_at } = submissions;
    const rows = await store.db
      .select({
        nonprofit_slug: nonprofits.slug,
        website: nonprofits.website,
        value,
        winning_value,
        agent_id,
        agent_name,
        source_url,
        decided_at,
      })
      .from(submissions)
      .innerJoin(nonprofits, eq(nonprofits.id, submissions.nonprofit_id))
      .where(
        and(
          sql`${submissions.status} = 'applied'`, // Literally as in the index, so that SQLite uses it.
          eq(submissions.field, exemplar),
          eq(submissions.test_data, 0),
          ne(nonprofits.status, "withdrawn"),
        ),
      )
      .orderBy(desc(decided_at), submissions.id)
      .limit(limit * 3);
    for (const row of rows) {
      const at = row.decided_at ?? 0;
      const key = `${row.nonprofit_slug} ${exemplar} ${at}`;
      if (byName.has(key)) continue;
      const view = {
        nonprofit_slug: row.nonprofit_slug,
        field: exemplar,
        value: row.winning_value ?? row.value, // For prose, the value that went live is what the reviewer made of it.
        agent_name: publicName(row),
        source_url: shownSource(row.source_url, [], row.website),
        applied_at: wireTime(new Date(at)),
      };
      byName.set(key, { at, row: view });
    }
  }
  const newestFirst = [...byName.values()].toSorted((a, b) => b.at - a.at).slice(0, limit);
  return {
    message: "Submissions that went live. Use them as templates for the form of a value.",
    hint: "A structured field needs a second agent with the same value; name the page where you found it in source_url.",
    count: newestFirst.length,
    exemplars: newestFirst.map(({ row }) => row),
  };
}

/** Answers about agents that are also published as files. */
type StoredAnswers = {
  leaderboard: Leaderboard;
  enrichment_stats: EnrichmentStats;
  exemplars: Exemplars;
};
const answersByName: {
  [Name in keyof StoredAnswers]: {
    shape: z.ZodType<StoredAnswers[Name]>;
    of: (store: Queryable) => Promise<StoredAnswers[Name]>;
  };
} = {
  leaderboard: { shape: Leaderboard, of: leaderboard },
  enrichment_stats: { shape: EnrichmentStats, of: enrichmentStats },
  exemplars: {
    shape: Exemplars,
    of: (store) => exemplars(store, { field: null, limit: exemplarsLimit.default }),
  },
};
const names = Object.keys(answersByName) as (keyof StoredAnswers)[];

/**
 * Stores these answers as facts of the directory. Submissions arrive without a change of public data, and published files
 * may depend only on stored facts. Writes nothing when an answer has not changed. Call it every few minutes.
 */
export async function keepAgentAnswers(store: Store, now: Date): Promise<void> {
  for (const name of names) {
    const value = JSON.stringify(await answersByName[name].of(store));
    if ((await directoryFact(store, name)) === value) continue;
    await store.write((tx) => saveDirectoryFact(tx, { name, value, now }));
  }
}

/** The stored answer, or the current one if none is stored yet. */
export async function storedAnswer<Name extends keyof StoredAnswers>(
  store: Queryable,
  name: Name,
): Promise<StoredAnswers[Name]> {
  const { shape, of } = answersByName[name];
  return (await jsonFact(store, name, shape.nullable().catch(null))) ?? of(store);
}
