import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { parsedJson } from "#api/http/body.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { freshCacheControl, readCacheControl } from "#api/http/headers.ts";
import { problem, RefusalError } from "#api/http/problem.ts";
import { countMoreReads } from "#api/http/rate-limit.ts";
import { route, serve } from "#api/http/route.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { reconciliationOperations as operations } from "#content/contract/operations/reconciliation.ts";
import { nonprofitNotFound, fitted } from "#content/contract/problem.ts";
import {
  batchMax,
  type ExtendAnswer,
  ExtendBody,
  perRead,
  Query,
  tableRowsMax,
} from "#content/contract/reconciliation.ts";
import properties from "#content/editorial/reconciliation-properties.json";
import { html, Html } from "#content/language/html.ts";
import { english } from "#content/language/texts.ts";
import { idsBySlug, recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import { fold } from "#content/nonprofit/text.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { draftManifest, manifest, cellsOf, type } from "#content/reconciliation/manifest.ts";
import { type Lookup, lookupOf, lookupOfDraft } from "#content/reconciliation/match.ts";
import { readTable, tableColumnsMax, writtenTable } from "#content/reconciliation/table.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import { reconcile, reconcileMany, suggested } from "./reconcile.ts";

type ReconciliationContext = Pick<Context, "store" | "search" | "config" | "limits" | "activity">;

/** The Reconciliation Service API, version 0.2 and 1.0-draft, over the directory's own search. */
export const reconciliationRoutes = (context: ReconciliationContext) => {
  const { store, activity } = context;
  const { baseUrl } = context.config;
  const current = manifest(baseUrl);
  const ofDraft = draftManifest(baseUrl);
  /** Counts the reads that names cost. The request itself was already counted as one. */
  const count = async (request: Request, lookups: readonly Lookup[]) => {
    activity.count("query:search");
    const letters = lookups.reduce((sum, { name }) => sum + name.length, 0);
    const reads = Math.max(lookups.length / perRead.names, letters / perRead.letters);
    await countMoreReads(context.limits, request, reads);
  };
  const answerBatch = async (request: Request, lookups: readonly Lookup[]) => {
    await count(request, lookups);
    return reconcile(context, lookups);
  };
  const answerForm = async (request: Request, { queries = "", extend = "" }: Form) => {
    if (extend !== "") return keyedRows(await extended(context, readExtend(extend)));
    const batch = readBatch(queries);
    const answers = await answerBatch(
      request,
      batch.map(([, query]) => lookupOf(query)),
    );
    // `fromEntries`, not assignment, because a key may be __proto__.
    return Object.fromEntries(batch.map(([key], at) => [key, { result: answers[at] ?? [] }]));
  };
  return serve(
    route(operations.getReconciliation, async ({ request, query: { callback, ...form } }) => {
      if (callback !== undefined) throw new RefusalError(noCallback);
      if (form.queries === undefined && form.extend === undefined) return current;
      return encodedJson(await answerForm(request, form), freshCacheControl);
    }),
    route(operations.reconcileNames, ({ request, body }) => answerForm(request, body)),
    route(operations.getReconciliationDraft, () => ofDraft),
    route(operations.matchNames, async ({ request, body: { queries } }) => {
      const answers = await answerBatch(request, queries.map(lookupOfDraft));
      return { results: answers.map((candidates) => ({ candidates })) };
    }),
    route(operations.suggestForReconciliation, async ({ params: { kind }, query }) => {
      const from = query.offset || query.cursor;
      if (kind === "entity") return { result: await suggested(context, { ...query, from }) };
      const all = kind === "property" ? properties : kind === "type" ? [type] : null;
      if (all === null) return problem(noKind);
      const prefix = fold(query.prefix ?? "");
      const result = all.filter(({ id, name }) => fold(`${id} ${name}`).includes(prefix));
      return { result: result.slice(from, from + query.limit) };
    }),
    route(operations.previewForReconciliation, async ({ query: { id = "" } }) => {
      const record = await recordBySlug(store, id);
      return record === null
        ? problem({ ...nonprofitNotFound, code: "nonprofit_not_found" })
        : previewPage(toDetail(record, baseUrl), baseUrl);
    }),
    route(operations.proposeProperties, ({ query }) => ({
      type: query.type ?? type.id,
      limit: query.limit,
      properties: properties.slice(0, query.limit),
    })),
    route(operations.extendNonprofits, ({ body }) => extended(context, body)),
    route(operations.matchTable, async ({ request, body }) => {
      const read = readTable(body.table, tableRowsMax);
      if (!read.ok) {
        const limits = { most: tableRowsMax, columns: tableColumnsMax };
        const detail = english.text(`table.${read.failure}`, limits);
        return problem({ status: 400, code: "invalid_table", detail });
      }
      const lookups = read.value.queries.map((query) => lookupOf(Query.parse(query)));
      await count(request, lookups);
      const best = (await reconcileMany(context, lookups)).map(([first]) => first);
      const orgIds = await orgIdsBySlug(
        context,
        best.flatMap((candidate) => candidate?.id ?? []),
      );
      const rows = best.map((candidate) => ({
        best: candidate,
        orgIds: orgIds.get(candidate?.id ?? "") ?? [],
      }));
      return new Response(writtenTable(read.value, rows), { headers: tableHeaders });
    }),
  );
};

type Form = { queries?: string | undefined; extend?: string | undefined };

const tableHeaders = {
  "content-type": "text/csv; charset=utf-8",
  "content-disposition": 'attachment; filename="matched.csv"',
  "cache-control": "no-store",
};

const noCallback = {
  status: 400,
  code: "no_jsonp",
  detail: "JSONP is not supported. Ask without callback: scripts of any site may read the answer.",
};

const noKind = {
  status: 404,
  code: "no_such_path",
  detail: "Suggested are entity, property and type.",
};

/** A batch of version 0.2: queries under keys that the client chose. Throws RefusalError. */
function readBatch(text: string): [string, Query][] {
  const parsed = text === "" ? null : parsedJson(text);
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) {
    throw unusable('Send queries={"q0": {"query": "a name"}}, a JSON object in a form.');
  }
  const entries = Object.entries(parsed);
  if (entries.length > batchMax) {
    const detail = `A batch has at most ${batchMax} queries; this one has ${entries.length}. Send more batches.`;
    throw new RefusalError({ status: 413, code: "batch_too_large", detail });
  }
  return entries.map(([key, value]) => [key, checked(Query, value, key)]);
}

const readExtend = (text: string): ExtendBody => checked(ExtendBody, parsedJson(text), "extend");

function checked<Shape extends z.ZodType>(shape: Shape, value: unknown, name: string) {
  const read = fitted(shape, value);
  if (read.ok) return read.value;
  const [wrong] = read.failure;
  throw unusable(
    `${[name.slice(0, 40), wrong?.path].filter(Boolean).join(".")}: ${wrong?.message}`,
  );
}

const unusable = (detail: string): RefusalError =>
  new RefusalError({ status: 400, code: "invalid_queries", detail });

/** The values of properties, row by row, in the format of 1.0-draft. */
async function extended(
  { store, config }: ReconciliationContext,
  { ids, properties: wanted }: ExtendBody,
) {
  const idOf = await idsBySlug(store, ids);
  const details = (await recordsById(store, [...idOf.values()])).map((record) =>
    toDetail(record, config.baseUrl, config.givingLinks),
  );
  const bySlug = new Map(details.map((detail) => [detail.slug, detail]));
  const meta = properties.filter(({ id }) => wanted.some((property) => property.id === id));
  const rows = ids.map((id) => {
    const detail = bySlug.get(id);
    const values = (property: string) => (detail === undefined ? [] : cellsOf(detail, property));
    return { id, properties: meta.map((each) => ({ id: each.id, values: values(each.id) })) };
  });
  return { meta: meta.map(({ id, name }) => ({ id, name })), rows } satisfies ExtendAnswer;
}

/** The same in the format of version 0.2. */
const keyedRows = ({ meta, rows }: ExtendAnswer) => ({
  meta,
  rows: Object.fromEntries(
    rows.map((row) => [
      row.id,
      Object.fromEntries(row.properties.map(({ id, values }) => [id, values])),
    ]),
  ),
});

async function orgIdsBySlug({ store }: ReconciliationContext, slugs: readonly string[]) {
  const records = await recordsById(store, [...(await idsBySlug(store, slugs)).values()]);
  return new Map(
    records.map(({ slug, registrations }) => [
      slug,
      registrations.flatMap(({ org_id }) => org_id ?? []),
    ]),
  );
}

const style = `body{margin:.75rem;font:14px/1.4 system-ui,sans-serif;color:#222;background:#fff}h1{margin:0 0 .25rem;font-size:17px}p{margin:.25rem 0;overflow-wrap:anywhere}a{color:#0b57a4}`;
/** Any site may frame the page; it loads nothing and runs nothing. */
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${sha256Of(style, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors *`;
const textMax = 280;

/** A small page about a nonprofit, for the frame of a client. */
export function previewPage(profile: NonprofitDetail, baseUrl: string): Response {
  const { name, city, region, country, status, identifiers, causes } = profile;
  const places = [city, region, country].filter((place) => place !== null).join(", ");
  const text = profile.tagline ?? profile.mission ?? "";
  const whole = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="robots" content="noindex" />
      <title>${name}</title>
      ${new Html(`<style>${style}</style>`)}
    </head>
    <body>
      <h1>
        <a href="${baseUrl}/nonprofits/${profile.slug}" target="_blank" rel="noopener">${name}</a>
      </h1>
      <p>${places}${status === "withdrawn" ? " · no longer listed" : ""}</p>
      <p>${identifiers.join(" · ")}</p>
      <p>${causes.map((cause) => cause.name).join(", ")}</p>
      <p>${text.length > textMax ? `${text.slice(0, textMax).toWellFormed()}…` : text}</p>
    </body>
  </html>`;
  return new Response(`<!doctype html>\n${whole.toString()}`, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "cache-control": readCacheControl,
    },
  });
}
