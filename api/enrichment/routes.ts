import details from "#content/editorial/problem-details.json";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { networkHash } from "#api/http/client.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import { type FailureTable, refuse, unusableBody } from "#api/http/problem.ts";
import { sequenceHeader } from "#api/http/sequence.ts";
import { helpFor, route, serve } from "#api/http/route.ts";
import {
  rowBytes,
  sizeOf,
  waitingInPlaceMax,
  waitingOfNetworkMax,
} from "#content/requests/quota.ts";
import { enrichmentOperations as operations } from "#content/contract/operations/enrichment.ts";
import type { Result } from "#content/contract/base/result.ts";
import { withFields } from "#content/contract/operations/operation.ts";
import { filtersOf } from "#content/contract/browse.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { enrichmentStats, exemplars, leaderboard } from "#content/enrichment/leaderboard-store.ts";
import { placeDays } from "#content/enrichment/consensus.ts";
import { gapCounts } from "#content/enrichment/gap-store.ts";
import { type GapFailure, reportGap } from "#content/enrichment/report-gap.ts";
import { needsAnswer, needsTotals } from "#content/enrichment/needs-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import {
  bindAgent,
  type KeyCall,
  type KeyFailure,
  revokeSecret,
  rotateSecret,
} from "#content/enrichment/bind-agent.ts";
import { enrich, type EnrichFailure } from "#content/enrichment/enrich.ts";
import {
  secretDigestOf,
  secretAnswers,
  secretFailure,
  agentRefusals,
  proposalCall,
  proposalWorld,
} from "./proposal.ts";

export const enrichRoutes = (context: Context) => {
  const { config, activity, waitForPublication, publication } = context;
  const world = { ...proposalWorld(context), publication };
  return serve(
    route(operations.submitEnrichment, async ({ params: { slug }, body, request, set }) => {
      const wait = async (sequence: number) => {
        set.headers[sequenceHeader] = String(sequence);
        return (await waitForPublication?.(sequence)) ?? null;
      };
      const call = { ...proposalCall(context, request), slug, body };
      const outcome = await enrich({ ...world, waitForPublication: wait }, call);
      if (!outcome.ok)
        return refuse(answersTo(config.baseUrl, slug), secretFailure(request, outcome.failure));
      const { submissions } = outcome.value;
      const live = submissions.filter(({ status }) => status === "applied").length;
      activity.count("enrich:submitted", submissions.length);
      if (live > 0) activity.count("enrich:applied", live);
      return outcome.value;
    }),
  );
};

const answersTo = (baseUrl: string, sentTo: string) => {
  const help = helpFor(operations.submitEnrichment, baseUrl, sentTo);
  const extensions = helpFor(operations.submitEnrichment, baseUrl);
  const whereToLook = `GET ${baseUrl}/api/needs-enrichment lists slugs that need data; GET ${baseUrl}/api/search?q=name finds one.`;
  return {
    nonprofit_not_found: ({ slug }) => ({
      status: 404,
      detail: /^[{<:]|^%7B/i.test(slug)
        ? `Put the slug of a nonprofit in the place of ${slug.slice(0, 40)}. ${whereToLook}`
        : `${nonprofitNotFound.detail} GET /api/needs-enrichment lists slugs that need data.`,
      extensions,
    }),
    nonprofit_withdrawn: ({ slug }) => ({
      status: 410,
      detail: `This nonprofit is withdrawn: its profile accepts no more data. Where it was merged, merged_into of GET ${baseUrl}/api/nonprofits/${slug} names the profile to use. ${whereToLook}`,
      extensions,
    }),
    field_queue_full: ({ fields }) => ({
      status: 409,
      detail: `Nothing was stored: no more values may wait for ${fields.join(", ")} of this profile, at most ${waitingInPlaceMax} each and ${waitingOfNetworkMax} from one network. Leave ${fields.length === 1 ? "it" : "them"} out, or send a value that waits, if you find it right (GET ${baseUrl}/api/needs-enrichment?pending=true shows some); a reviewer makes room, and a website, place, year or address gives way to a new one after ${placeDays} days.`,
      extensions: help,
    }),
    invalid_enrichment: ({ errors }) => ({ ...unusableBody(errors), extensions: help }),
    ...agentRefusals,
  } as const satisfies FailureTable<EnrichFailure>;
};

const keyAnswers = {
  ...secretAnswers,
  invalid_agent_id: ({ errors }) => unusableBody(errors),
  agent_bound: { status: 409, detail: details.agent_keys.agent_bound },
  agent_in_use: { status: 409, detail: details.agent_keys.agent_in_use },
} as const satisfies FailureTable<KeyFailure>;

/** Agents and their keys, statistics, gaps, and what needs data. */
export const enrichmentRoutes = (context: Context) => {
  const { store, clock, config, limits } = context;
  const { baseUrl } = config;
  const handlerOf =
    <Value>(verb: (with_: typeof context, call: KeyCall) => Promise<Result<Value, KeyFailure>>) =>
    async ({ body: { agent_id }, request }: { body: { agent_id: string }; request: Request }) => {
      const outcome = await verb(context, { agent_id, secret: secretDigestOf(request) });
      if (outcome.ok) limits.stored("agents", request, rowBytes + 2 * sizeOf(agent_id));
      return outcome.ok
        ? outcome.value
        : refuse(keyAnswers, secretFailure(request, outcome.failure));
    };
  return serve(
    route(operations.bindAgent, handlerOf(bindAgent)),
    route(operations.rotateAgentSecret, handlerOf(rotateSecret)),
    route(operations.revokeAgentSecret, handlerOf(revokeSecret)),
    route(operations.getAgentLeaderboard, async () =>
      encodedJson(await leaderboard(store), freshCacheControl),
    ),
    route(operations.getAgentExemplars, async ({ query: { field = null, limit } }) =>
      encodedJson(await exemplars(store, { field, limit }), freshCacheControl),
    ),
    route(operations.getEnrichmentStats, async () =>
      encodedJson(await enrichmentStats(store), freshCacheControl),
    ),
    route(operations.reportGap, async ({ body, request }) => {
      const network = networkHash(request, context) ?? "";
      const countStored = (bytes: number) => limits.stored("readers", request, bytes);
      const outcome = await reportGap({ store, clock, baseUrl }, { body, network, countStored });
      return outcome.ok ? outcome.value : refuse(gapAnswers, outcome.failure);
    }),
    route(operations.countGaps, async () => encodedJson(await gapCounts(store), freshCacheControl)),
    route(operations.findThinProfiles, async ({ query }) => {
      const needs = {
        day: (await directoryFact(store, "publication_day")) ?? isoDay(clock().getTime()),
        limit: query.limit,
        field: query.field ?? null,
        filters: filtersOf(query),
        pending: query.pending !== undefined,
      };
      const totals = await needsTotals(store);
      const place = { baseUrl, totals, secondOpinions: config.consensus };
      const answer = await needsAnswer(store, needs, place);
      const nonprofits = withFields(answer.nonprofits, query.fields);
      return encodedJson({ ...answer, nonprofits }, freshCacheControl);
    }),
  );
};

const gapAnswers = {
  invalid_gap: ({ errors }) => unusableBody(errors),
  nonprofit_not_found: nonprofitNotFound,
  too_many_gaps: { status: 409, detail: details.gaps.too_many_gaps },
} as const satisfies FailureTable<GapFailure>;
