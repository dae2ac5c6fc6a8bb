import { Elysia } from "elysia";
import { listAnswer, listLimit, toDetail, toSummary } from "#content/nonprofit/wire.ts";
import { countsOfLists, idsInList } from "#content/nonprofit/list-store.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import { readCacheControl } from "#api/http/headers.ts";
import type { Context } from "#api/context.ts";
import { EncodedBody, encodedJson } from "#api/http/encoded-body.ts";
import { problem } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";

type Needed = Pick<
  Context,
  "store" | "cache" | "config" | "bundle" | "clock" | "secrets" | "recommendationLog"
>;

/** GET /api/nonprofits and GET /api/nonprofits/{slug}. */
export const nonprofitRoutes = (context: Needed) =>
  new Elysia()
    .get("/api/nonprofits", ({ request }) => {
      const query = queryOf(request.url);
      const limit = query.limit({ fallback: listLimit.default, max: listLimit.max });
      const offset = query.offset();
      if (!limit.ok) return refuseParameter(limit.failure);
      if (!offset.ok) return refuseParameter(offset.failure);
      return listed(context, limit.value, offset.value);
    })
    .get("/api/nonprofits/:slug", async ({ params, request }) => {
      const answer = await profile(context, params.slug);
      if (answer instanceof Response) return answer;
      const step = { action: "profile", slug: params.slug, form: "json" } as const;
      noteFollowUp(context, request, step, { elsewhere: true });
      return answer;
    });

const whole = "all";

/** One page of the whole directory: verified first, then impact. */
const listed = ({ store, cache, config }: Needed, limit: number, offset: number) =>
  cache.get(`list ${limit} ${offset}`, async () => {
    const total = (await countsOfLists(store, [whole])).get(whole) ?? 0;
    const ids = offset < total ? await idsInList(store, whole, { limit, offset }) : [];
    const records = await recordsById(store, ids, { summaries: true });
    const { baseUrl } = config;
    const nonprofits = records.map(toSummary);
    const value = encodedJson(listAnswer({ baseUrl, total, limit, offset, nonprofits }));
    const shown = new Set(ids);
    return {
      value,
      bytes: value.body.byteLength,
      staleBy: ({ moved_lists, nonprofit_id }) =>
        moved_lists.includes(whole) || (nonprofit_id !== null && shown.has(nonprofit_id)),
    };
  });

const slugLengthMax = 200;

/** The same bytes from the current release, where there is one, and from the store. */
async function profile(
  { store, cache, bundle }: Needed,
  slug: string,
): Promise<EncodedBody | Response> {
  if (slug.length > slugLengthMax || !/^[\p{L}\p{N}._~-]+$/u.test(slug)) return unknownSlug();
  const file = await bundle?.read(`api/nonprofits/${slug}.json`);
  if (file)
    return new EncodedBody([new Uint8Array(file.body)], "application/json", readCacheControl);
  const answer = await cache.get(`profile ${slug}`, async () => {
    const record = await recordBySlug(store, slug);
    const value = record === null ? null : encodedJson(toDetail(record));
    return {
      value,
      // Anyone can make up slugs: what does not exist is not cached.
      bytes: value?.body.byteLength ?? Infinity,
      staleBy: (change) => change.slug === slug,
    };
  });
  return answer ?? unknownSlug();
}

const unknownSlug = (): Response =>
  problem({ status: 404, code: "nonprofit_not_found", detail: "No nonprofit has this slug." });
