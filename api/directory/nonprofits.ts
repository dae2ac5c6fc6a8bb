import { Elysia } from "elysia";
import { listAnswer, listLimit } from "#content/nonprofit/list-answer.ts";
import { toDetail, toSummary } from "#content/nonprofit/wire.ts";
import { countsOfLists } from "#content/nonprofit/list-pages.ts";
import { idsInList } from "#content/nonprofit/lists.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/records.ts";
import { noteFollowUp } from "#api/recommendation/follow-up.ts";
import { readCacheControl } from "#api/http/headers.ts";
import type { Parts } from "#api/context.ts";
import { Prepared, preparedJson } from "#api/http/encoded-body.ts";
import { problem } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";

type Needed = Pick<
  Parts,
  "store" | "kept" | "config" | "bundle" | "clock" | "secrets" | "recommendationLog"
>;

/** GET /api/nonprofits and GET /api/nonprofits/{slug}. */
export const nonprofitRoutes = (parts: Needed) =>
  new Elysia()
    .get("/api/nonprofits", ({ request }) => {
      const query = queryOf(request.url);
      const limit = query.limit({ fallback: listLimit.default, max: listLimit.max });
      const offset = query.offset();
      if (!limit.ok) return refuseParameter(limit.failure);
      if (!offset.ok) return refuseParameter(offset.failure);
      return listed(parts, limit.value, offset.value);
    })
    .get("/api/nonprofits/:slug", async ({ params, request }) => {
      const answer = await profile(parts, params.slug);
      if (answer instanceof Response) return answer;
      const step = { action: "profile", slug: params.slug, form: "json" } as const;
      noteFollowUp(parts, request, step, { elsewhere: true });
      return answer;
    });

const whole = "all";

/** One page of the whole directory: verified first, then impact. */
const listed = ({ store, kept, config }: Needed, limit: number, offset: number) =>
  kept.get(`list ${limit} ${offset}`, async () => {
    const total = (await countsOfLists(store, [whole])).get(whole) ?? 0;
    const ids = offset < total ? await idsInList(store, whole, { limit, offset }) : [];
    const records = await recordsById(store, ids, { summaries: true });
    const { baseUrl } = config;
    const nonprofits = records.map(toSummary);
    const value = preparedJson(listAnswer({ baseUrl, total, limit, offset, nonprofits }));
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
  { store, kept, bundle }: Needed,
  slug: string,
): Promise<Prepared | Response> {
  if (slug.length > slugLengthMax || !/^[\p{L}\p{N}._~-]+$/u.test(slug)) return unknownSlug();
  const file = await bundle?.read(`api/nonprofits/${slug}.json`);
  if (file) return new Prepared([new Uint8Array(file.body)], "application/json", readCacheControl);
  const answer = await kept.get(`profile ${slug}`, async () => {
    const record = await recordBySlug(store, slug);
    const value = record === null ? null : preparedJson(toDetail(record));
    return {
      value,
      // Anyone can make up slugs: what does not exist is not kept.
      bytes: value?.body.byteLength ?? Infinity,
      staleBy: (change) => change.slug === slug,
    };
  });
  return answer ?? unknownSlug();
}

const unknownSlug = (): Response =>
  problem({ status: 404, code: "nonprofit_not_found", detail: "No nonprofit has this slug." });
