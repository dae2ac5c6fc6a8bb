import { addresses, pathIn } from "#content/contract/addresses.ts";
import type { Context } from "#api/context.ts";
import { batcher } from "#content/runtime/concurrency.ts";
import { formOf, type PageForm, readCacheControl } from "#api/http/headers.ts";
import { noPages, refusalOf, refuse } from "#api/http/problem.ts";
import { pathOf, route, serve } from "#api/http/route.ts";
import {
  directoryOperations as operations,
  organisationProblems,
} from "#content/contract/operations/directory.ts";
import type { QueryOf } from "#content/contract/operations/operation.ts";
import type { Organisation, OrganisationsFound } from "#content/contract/standing.ts";
import { languageCodes } from "#content/language/languages.ts";
import { countryOf } from "#content/nonprofit/country.ts";
import { idsBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import { registrationsOf, toSummary } from "#content/nonprofit/wire.ts";
import { reconcile } from "#api/reconciliation/reconcile.ts";
import { lookupOf } from "#content/reconciliation/match.ts";
import { readOrgId, type RegisterNumber } from "#content/register/org-id.ts";
import {
  batchAnswer,
  type RegisteredNumber,
  organisationAnswer,
  type ScopesRead,
} from "#content/register/standing.ts";
import { registersReadFact } from "#content/register/import-store.ts";
import { knownByOrgId, scopesRead } from "#content/register/standing-store.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";

type OrganisationContext = Pick<Context, "store" | "cache" | "config" | "draw" | "search">;
type Ask = (orgId: string) => Promise<RegisteredNumber>;

/** Organisations by register number: one, several, and a page that leads to the profile. */
export function organisationRoutes(context: OrganisationContext) {
  // Concurrent look-ups share a query.
  const { ask } = batcher((orgIds: readonly string[]) => knownByOrgId(context.store, orgIds));
  const routes = serve(
    route(operations.getOrganisation, async ({ params, query }) => {
      const number = readOrgId(params.org_id, codeOf(query.country));
      if (!number.ok) return refuse(organisationProblems, number.failure);
      // Not cached: most numbers are asked for once, and the query costs no more than a cache entry.
      return answerTo(context, number.value, ask);
    }),
    route(operations.findOrganisations, ({ query }) => foundByName(context, query)),
    route(operations.checkOrganisations, ({ body }) => checked(context, body, ask)),
  );
  for (const language of languageCodes) {
    routes.get(pathIn(language, pathOf(addresses.organisation)), ({ params, request }) => {
      const { org_id = "" } = params as { org_id?: string };
      return forPeople(context, org_id, formOf(request), ask);
    });
  }
  return routes;
}

/** Redirects to the profile if there is one; else draws a page of what registers say. */
async function forPeople(context: OrganisationContext, orgId: string, form: PageForm, ask: Ask) {
  const number = readOrgId(orgId);
  if (!number.ok) return refuse(organisationProblems, number.failure);
  const answer = await answerTo(context, number.value, ask);
  if (answer.profile === null) return context.draw?.organisation(answer, form) ?? noPages();
  const location = pathIn(form.language, `/nonprofits/${answer.profile.slug}`);
  const headers = { location, "cache-control": readCacheControl };
  return new Response(null, { status: 308, headers });
}

/** The country's code; for an unknown country its text, which fits no register. */
const codeOf = (country: string | undefined): string =>
  country === undefined ? "" : (countryOf(country) ?? country);

const answerTo = async (
  context: OrganisationContext,
  number: RegisterNumber,
  ask: Ask,
): Promise<Organisation> => {
  const place = { scopes: await scopesNow(context), baseUrl: context.config.baseUrl };
  return organisationAnswer(number, await ask(number.org_id), place);
};

/** Candidates for a name, slug, website or register number, found as reconciliation does. */
async function foundByName(
  context: OrganisationContext,
  { name, country, limit }: QueryOf<typeof operations.findOrganisations>,
): Promise<OrganisationsFound> {
  const { store, config } = context;
  const within =
    country === undefined
      ? [
          ["id", name.toLowerCase()],
          ["org_id", name],
        ]
      : [["country", country]];
  const lookup = lookupOf({
    query: /^\S+\.\p{L}{2,}(?:[/?#]\S*)?$/u.test(name) ? "" : name.replaceAll(/[-_]+/g, " "),
    properties: [["website", name], ...within].map(([pid = "", v = ""]) => ({ pid, v })),
    limit,
  });
  const required = country === undefined ? [] : ["country" as const];
  const [candidates = []] = await reconcile(context, [{ ...lookup, required }]);
  const ids = await idsBySlug(
    store,
    candidates.map(({ id }) => id),
  );
  const records = await recordsById(store, [...ids.values()]);
  const organisations = candidates.flatMap(({ id, score, match }) => {
    const record = records.find(({ slug }) => slug === id);
    if (record === undefined) return [];
    const { identifiers } = registrationsOf(record);
    return { ...toSummary(record, config.baseUrl), identifiers, score, match };
  });
  const isFound = organisations.some(({ match }) => match);
  return { count: organisations.length, note: isFound ? null : unsure, organisations };
}

const unsure =
  "None is sure to be it. Ask which is meant, narrow by country, or send a register number to /api/organisations/{org_id}.";

const readsRegisters = ({ fields }: Change): boolean => fields.includes(registersReadFact);

const scopesNow = ({ store, cache }: OrganisationContext): ScopesRead | Promise<ScopesRead> =>
  cache.get("registers read", async () => ({
    value: await scopesRead(store),
    bytes: 10_000,
    staleBy: readsRegisters,
  }));

async function checked(
  context: OrganisationContext,
  { ids, country }: { ids: readonly string[]; country?: string | undefined },
  ask: Ask,
) {
  const answers = ids.map(async (query) => {
    const number = readOrgId(query, codeOf(country));
    if (number.ok) return { query, ...(await answerTo(context, number.value, ask)) };
    const { status, code, detail } = refusalOf(organisationProblems, number.failure);
    return { query, error: { status, code, detail } };
  });
  return batchAnswer(await Promise.all(answers));
}
