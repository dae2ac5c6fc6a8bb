import { Elysia } from "elysia";
import {
  type BrowseQuery,
  browseQuery,
  causeName,
  entriesPerPage,
} from "#content/contract/browse.ts";
import type { Context } from "#api/context.ts";
import { type EncodedBody, encodedJson } from "#api/http/encoded-body.ts";
import { formOf, freshCacheControl, type PageForm } from "#api/http/headers.ts";
import { noPages, problem } from "#api/http/problem.ts";
import { pathOf, route, serve, serveIn } from "#api/http/route.ts";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import { listFile } from "./list-file.ts";
import { type Address, addresses, pathIn } from "#content/contract/addresses.ts";
import { withFields, type QueryOf } from "#content/contract/operations/operation.ts";
import {
  directoryOperations as directory,
  serviceOperations as service,
} from "#content/contract/operations/directory.ts";
import { operations } from "#content/openapi/document.ts";
import { addressForms } from "#content/language/address-pattern.ts";
import { languageCodes, translationCodes, translations } from "#content/language/languages.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import { NonprofitSummary } from "#content/contract/nonprofit.ts";
import { unknownNote } from "#content/find/query.ts";
import { donationHistory } from "#content/giving/answers.ts";
import { networks } from "#content/giving/network.ts";
import { finalDonations } from "#content/giving/store.ts";
import { contestedOf } from "#content/enrichment/review-store.ts";
import { type Change, historyAnswer } from "#content/nonprofit/changes-store.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { causeList } from "#content/nonprofit/list-store.ts";
import { recordBySlug, summarisedById, summariesById } from "#content/nonprofit/record-store.ts";
import { listAnswer, toDetail } from "#content/nonprofit/wire.ts";
import { readOrgId } from "#content/register/org-id.ts";
import { knownByOrgId } from "#content/register/standing-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { directoryNumbers } from "#content/operation/directory-facts-store.ts";
import { chartsFact, storedCharts } from "#content/statistics/charts-store.ts";

type DirectoryContext = Pick<
  Context,
  | "store"
  | "cache"
  | "search"
  | "config"
  | "clock"
  | "secrets"
  | "recommendationLog"
  | "activity"
  | "draw"
  | "limits"
>;

/** Reads of the directory: profiles, the list, causes, history and numbers. */
export const directoryRoutes = (context: DirectoryContext) => {
  const { store } = context;
  const browse = route(directory.browseNonprofits, ({ query, request }) =>
    listForPeople(context, query, formOf(request)),
  );
  return serve(
    route(directory.listNonprofits, async ({ query, request, set }) => {
      set.headers["vary"] = "Accept";
      const browsing = browseQuery(query);
      const file = await listFile(context, request, query, NonprofitSummary, (limit) =>
        context.search.browse({ ...browsing, limit }),
      );
      return file ?? page(context, browsing);
    }),
    route(directory.getNonprofit, async ({ params: { slug }, query: { fields }, request }) => {
      const answer = await profile(context, slug);
      if (answer === null) return unknownSlug();
      const step = { action: "profile", slug, form: "json" } as const;
      noteFollowUp(context, request, step, { elsewhere: true });
      if (fields === undefined) return answer;
      const [view] = withFields([JSON.parse(decoder.decode(answer.body)) as object], fields);
      return view;
    }),
    route(directory.getNonprofitHistory, async ({ params }) => {
      // The same format as the bundle's file, but as of now.
      const answer = await historyAnswer(store, params.slug);
      return answer === null ? unknownSlug() : encodedJson(answer, freshCacheControl);
    }),
    route(directory.historyForPeople, ({ params: { slug }, request }) =>
      historyForPeople(context, slug, formOf(request)),
    ),
    route(service.listAddresses, () => ({
      openapi: `${context.config.baseUrl}/openapi.json`,
      endpoints,
    })),
    route(directory.listCauses, () => causes(context)),
    route(directory.getStats, ({ query }) => numbers(context, query.include)),
  )
    .use(serveIn(languageCodes, browse))
    .get("/nonprofits/:slug", async ({ params: { slug: file } }) => {
      // Elysia cannot match `:slug.atom`, so this route serves the feed and is also the 404 of a missing profile.
      const [, slug = "", form] = /^([^.]*)(?:\.(atom|html|md))?$/.exec(file) ?? [];
      if (form === "atom") return historyForPeople(context, slug, "feed");
      return (await recordBySlug(store, slug)) === null ? unknownSlug() : notPublished(slug);
    });
};

const decoder = new TextDecoder();

/**
 * Pages of a profile in the languages for which the bundle has none. Programs get English, at addresses without a
 * language.
 */
export function translatedRoutes(context: DirectoryContext) {
  const { store, draw } = context;
  const routes = new Elysia();
  const drawnOf = async (slug: string, page: "profile" | "donate", form: PageForm) => {
    if (draw === undefined) return noPages();
    const record = await recordBySlug(store, slug);
    return record === null ? draw.missing(form) : draw[page](record, form);
  };
  for (const { language } of translations) {
    /** A page by its name; an address that ends in .html is redirected to the page. */
    const named = (address: Address, page: (name: string, form: PageForm) => Promise<unknown>) =>
      routes.get(pathIn(language, pathOf(address)), ({ params, request }) => {
        const [name = ""] = Object.values<string>(params);
        const bareName = encodeURIComponent(name.slice(0, -".html".length));
        const to = address.path.replace(/\{\w+\}/, bareName);
        return name.endsWith(".html") ? movedTo(pathIn(language, to)) : page(name, formOf(request));
      });
    named(addresses.profile, (slug, form) => drawnOf(slug, "profile", form));
    named(addresses.donatePage, (slug, form) => drawnOf(slug, "donate", form));
    named(addresses.history, (slug, form) => historyForPeople(context, slug, form));
    named(addresses.causeList, (list, form) => listAt(context, "cause", list, form));
    named(addresses.countryList, (list, form) => listAt(context, "country", list, form));
  }
  return routes;
}

export function movedRoutes() {
  const routes = new Elysia();
  for (const { path, from, moved: to, translated } of addressForms) {
    if (to === undefined || from === "file") continue;
    const codes = translated ? translations.map(({ language }) => language) : ["en"];
    for (const language of codes) {
      routes.get(pathIn(language, pathOf({ path })), ({ params }) => {
        const values: Readonly<Record<string, string | undefined>> = params;
        const there = to.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          encodeURIComponent(values[name] ?? ""),
        );
        return movedTo(pathIn(language, there));
      });
    }
  }
  return routes;
}

/** Every address except those of operators, with its one-line summary. */
const endpoints = Object.fromEntries(
  operations
    .filter(({ tag }) => tag !== "Operator")
    .map(({ method, path, summary }) => [`${method.toUpperCase()} ${path}`, summary]),
);

/** The history with contested values and donations, drawn as a page or a feed. */
async function historyForPeople(
  { store, draw, config: { baseUrl, network } }: DirectoryContext,
  slug: string,
  form: PageForm | "feed",
): Promise<Response | EncodedBody> {
  if (draw === undefined) return noPages();
  const record = await recordBySlug(store, slug);
  const history = record === null ? null : await historyAnswer(store, slug);
  if (record === null || history === null) return unknownSlug();
  const [donations] = await finalDonations(store, [record.id]);
  const place = { cluster: networks[network].cluster, baseUrl };
  const gifts = donations === undefined ? null : donationHistory(donations, donations, place);
  const contestedValues = await contestedOf(store, record);
  const view = { name: record.name, history, contested: contestedValues, gifts };
  return form === "feed" ? draw.feed(view) : draw.history(view, form);
}

/** A redirect to a path, with its query, as they stand in an address. */
export const movedTo = (location: string): Response =>
  new Response(null, { status: 308, headers: { location } });

const unknownSlug = (): Response => problem({ ...nonprofitNotFound, code: "nonprofit_not_found" });

const notPublished = (slug: string): Response =>
  problem({
    status: 404,
    code: "nonprofit_not_found",
    detail: `This page is not published yet. GET /api/nonprofits/${slug} has what is known now.`,
  });

const whole = "all";

const page = ({ store, cache, search, config }: DirectoryContext, query: BrowseQuery) =>
  cache.get(`list ${JSON.stringify(query)}`, async () => {
    const { baseUrl } = config;
    const { total, ids, facets } = await search.browse(query);
    const items = await summariesById(store, ids, baseUrl, query.fields);
    const nonprofits = withFields(items, query.fields);
    const facetPart = query.include?.includes("facets") ? { facets } : {};
    const answer = listAnswer({ baseUrl, query, total, nonprofits, ...facetPart });
    const value = encodedJson({ ...answer, note: unknownNote(query.filters, total) });
    // Any change may affect the counts.
    return { value, bytes: value.body.byteLength, staleBy: () => true };
  });

/** One page of such a list for people, drawn as the site draws it. */
async function listForPeople(
  { store, search, draw, config }: DirectoryContext,
  parameters: QueryOf<typeof directory.browseNonprofits>,
  form: PageForm,
): Promise<Response> {
  if (draw === undefined) return noPages();
  const { page: number = 1, ...narrowing } = parameters;
  const offset = (number - 1) * entriesPerPage;
  const query = browseQuery({ ...narrowing, limit: entriesPerPage, offset });
  const { ids, ...result } = await search.browse(query);
  if (number > 1 && offset >= result.total) return draw.missing(form);
  const items = await summariesById(store, ids, config.baseUrl);
  return draw.list({ ...query, ...result, page: number, items }, form);
}

/** A page of a cause's or a country's list, from the last part of its address: "education", "ke-2". */
async function listAt(
  context: DirectoryContext,
  kind: "cause" | "country",
  address: string,
  form: PageForm,
): Promise<Response> {
  const [, value = "", number = "1"] = /^(.+?)(?:-([1-9]\d{0,3}))?$/.exec(address) ?? [];
  const isKnown = kind === "cause" ? causeName(value) !== value : countryCode(value) !== null;
  if (!isKnown) return (await context.draw?.missing(form)) ?? noPages();
  return listForPeople(context, { [kind]: value, page: Number(number) }, form);
}

const slugLengthMax = 200;

/** The profile in JSON; null for an unknown slug. */
async function profile(
  { store, cache, config }: DirectoryContext,
  slug: string,
): Promise<EncodedBody | null> {
  if (slug.length > slugLengthMax || !/^[\p{L}\p{N}._~-]+$/u.test(slug)) return null;
  return cache.get(`profile ${slug}`, async () => {
    const record = await recordBySlug(store, slug);
    const value =
      record === null ? null : encodedJson(toDetail(record, config.baseUrl, config.givingLinks));
    return {
      value,
      // Unknown slugs are not cached, because anyone can make them up.
      bytes: value?.body.byteLength ?? Infinity,
      staleBy: (change) => change.slug === slug,
    };
  });
}

const causes = ({ store, cache }: DirectoryContext) =>
  cache.get("causes", async () => {
    const value = encodedJson(await causeList(store));
    return {
      value,
      bytes: value.body.byteLength,
      staleBy: ({ moved_lists }) => moved_lists.some((list) => list.startsWith("cause:")),
    };
  });

/** The numbers of the directory, with the counters as of now. */
async function numbers(
  { store, cache, activity }: DirectoryContext,
  include: readonly string[] = [],
) {
  const { charts, ...counted } = await cache.get("stats", async () => ({
    value: { ...(await directoryNumbers(store)), charts: await storedCharts(store) },
    bytes: 20_000,
    staleBy: movesNumbers,
  }));
  const answer = { ...counted, ...(include.includes("charts") && { charts }) };
  return encodedJson({ ...answer, ...(await activity.counters()) }, freshCacheControl);
}

/** Changes that affect the numbers: a profile came, went or changed reach, claim or country; or the charts changed. */
const movesNumbers = ({ moved_lists, fields }: Change): boolean =>
  moved_lists.includes(whole) ||
  ["country_code", "status", chartsFact].some((field) => fields.includes(field));

/** All paths with a slug, in any language, except operators' own. Paths that end in a file type come first in the table. */
const slugPaths = Object.values<Address>(addresses)
  .filter(({ path }) => path.includes("{slug}") && !path.startsWith("/api/admin/"))
  .map(({ path }) => {
    const [before = "", after = ""] = path.split("{slug}");
    const rest = after.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^((?:/(?:${translationCodes}))?${before})([^/]+?)(${rest})$`);
  });

/** The right path for one that names a slug in capitals, or an id or register number in its place; else null. */
export async function slugAddress(store: Queryable, path: string): Promise<string | null> {
  const [, before = "", name = "", after = ""] =
    slugPaths.map((form) => form.exec(path)).find((match) => match !== null) ?? [];
  if (name === "") return null;
  const slug = await slugOf(store, decodeURIComponent(name));
  return slug === null || slug === name ? null : `${before}${encodeURIComponent(slug)}${after}`;
}

async function slugOf(store: Queryable, name: string): Promise<string | null> {
  const small = name.toLowerCase();
  if ((await recordBySlug(store, small)) !== null) return small;
  const id = /^[1-9]\d{0,11}$/.test(name) ? Number(name) : 0;
  const summary = (await summarisedById(store, [id])).get(id);
  if (summary !== undefined) return summary.slug;
  const number = readOrgId(name);
  if (!number.ok) return null;
  const [registration] = await knownByOrgId(store, [number.value.org_id]);
  return registration?.profile?.slug ?? null;
}
