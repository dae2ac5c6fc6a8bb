import type { ConsensusMode } from "./consensus.ts";
import { publicValue } from "#content/nonprofit/mask.ts";
import { thinFields } from "#content/nonprofit/thin-fields.ts";
import { wireTime } from "#content/contract/time.ts";
import { countryName } from "#content/nonprofit/wire.ts";
import { enrichableFields } from "#content/contract/enrichment.ts";
import type {
  HelpWanted,
  SecondOpinion,
  ThinProfile,
} from "#content/contract/enrichment-answers.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { helpWantedIds, type HelpWantedQuery } from "./help-wanted.ts";
import { inConsensus } from "#content/nonprofit/pending-fields.ts";
import type { Queryable } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/records.ts";
import { directoryFact } from "#content/operation/stats.ts";

export type HelpWantedTotals = Pick<
  HelpWanted,
  "total_enrichments_received" | "second_opinions_available"
>;

/** Default and greatest limit. Source: spec, "Limits". */
export const helpWantedLimit = { default: 10, max: 50 } as const;

/** The default question: what GET /api/needs-enrichment without parameters asks on that day. */
export const helpWantedDefault = (day: string): HelpWantedQuery => ({
  day,
  limit: helpWantedLimit.default,
  field: null,
  cause: null,
  pending: false,
});

/** The numbers as of now. The bundle takes those of the last checkpoint, so that it depends on nothing but the store. */
export async function helpWantedTotals(store: Queryable): Promise<HelpWantedTotals> {
  const { rows } = await store.raw.execute({
    sql: `SELECT coalesce((SELECT count FROM enrichment_counts WHERE name = 'total'), 0) AS total,
            (SELECT count(*) FROM pending_fields) AS available`,
    args: [],
  });
  return {
    total_enrichments_received: Number(rows[0]?.["total"] ?? 0),
    second_opinions_available: Number(rows[0]?.["available"] ?? 0),
  };
}

/** The totals of the last checkpoint: a fact of the store, written with `saveDirectoryFact`. */
export async function storedHelpWantedTotals(store: Queryable): Promise<HelpWantedTotals> {
  const stored = await directoryFact(store, "help_wanted_totals");
  return stored === null
    ? { total_enrichments_received: 0, second_opinions_available: 0 }
    : (JSON.parse(stored) as HelpWantedTotals);
}

/**
 * GET /api/needs-enrichment. Pending submissions change without a change of public data, so the bundle leaves second
 * opinions out (`secondOpinions: null`); the service shows what its mode of consensus wants.
 */
export async function helpWantedAnswer(
  store: Queryable,
  query: HelpWantedQuery,
  shown: { baseUrl: string; totals: HelpWantedTotals; secondOpinions: ConsensusMode | null },
): Promise<HelpWanted> {
  const ids = await helpWantedIds(store, query);
  const records = await recordsById(store, ids, { summaries: true });
  const opinions =
    shown.secondOpinions === null
      ? new Map<number, SecondOpinion[]>()
      : await secondOpinions(store, records, { ...shown, mode: shown.secondOpinions });
  return {
    message:
      "These profiles lack data. Research a field, then POST it to enrich_url; a structured field goes live when two agents agree.",
    ...shown.totals,
    nonprofits: records.map((record) => itemOf(record, opinions.get(record.id), shown.baseUrl)),
  };
}

const itemOf = (
  record: NonprofitRecord,
  opinions: SecondOpinion[] | undefined,
  baseUrl: string,
): ThinProfile => ({
  slug: record.slug,
  name: record.name,
  country: countryName(record.country_code),
  needs_fields: thinFields(record),
  ...(opinions === undefined ? {} : { second_opinion_needed: opinions }),
  current_data: Object.fromEntries(
    currentFields.map((field) => {
      const value = record[field];
      const isEmpty = value === null || value === "";
      return [
        field,
        isEmpty ? null : typeof value === "string" ? publicValue(field, value) : value,
      ];
    }),
  ),
  enrich_url: enrichUrl(baseUrl, record.slug),
});

/** What a profile itself holds of the fields that agents can complete; programmes and metrics are rows beside it. */
const currentFields = enrichableFields.filter(
  (field) => field !== "programme" && field !== "impact_metric",
);

const enrichUrl = (baseUrl: string, slug: string): string => `${baseUrl}/api/enrich/${slug}`;

const secondAgent: Readonly<Record<ConsensusMode, string>> = {
  agents: "the second agent",
  networks: "a second agent on another network",
};

/** A field may have many rival values; an agent needs no more than the earliest to go and check. */
const opinionsPerFieldMax = 3;

/**
 * The pending values that want one more agent, by nonprofit, in the order in which they came, each as it was sent first.
 * In the strict mode several agents of one network may have sent the same: that still wants one from another.
 */
async function secondOpinions(
  store: Queryable,
  records: readonly NonprofitRecord[],
  { baseUrl, mode }: { baseUrl: string; mode: ConsensusMode },
): Promise<Map<number, SecondOpinion[]>> {
  const slugs = new Map(records.map(({ id, slug }) => [id, slug]));
  const waiting = await store.raw.execute({
    sql: `SELECT nonprofit_id, field FROM pending_fields
          WHERE nonprofit_id IN (SELECT value FROM json_each(?))
          ORDER BY nonprofit_id, field`,
    args: [JSON.stringify([...slugs.keys()])],
  });
  const opinions = new Map<number, SecondOpinion[]>();
  for (const row of waiting.rows) {
    const [id, field] = [Number(row["nonprofit_id"]), String(row["field"])];
    const { rows } = await store.raw.execute({
      sql: `SELECT value, agent_name, created_at, min(id) AS first FROM submissions
            WHERE nonprofit_id = ? AND field = ? AND ${inConsensus} AND test_data = 0
            GROUP BY normalised_value
            ORDER BY first
            LIMIT ${opinionsPerFieldMax}`,
      args: [id, field],
    });
    const found = rows.map((one) => ({
      field,
      pending_value: publicValue(field, String(one["value"])),
      submitted_by: String(one["agent_name"]),
      submitted_at: wireTime(new Date(Number(one["created_at"]))),
      action: `Research ${field} yourself. If you find the same value, POST it to ${enrichUrl(baseUrl, slugs.get(id) ?? "")} with your own agent_id: ${secondAgent[mode]} makes it live. If you find another, POST that.`,
    }));
    if (found.length > 0) opinions.set(id, [...(opinions.get(id) ?? []), ...found]);
  }
  return opinions;
}
