import { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import {
  batchMax,
  DraftAnswer,
  DraftBatch,
  ExtendAnswer,
  ExtendBody,
  KeyedAnswer,
  Manifest,
  ManifestOrAnswer,
  Proposal,
  ReconciliationForm,
  Suggestions,
  tableRowsMax,
} from "#content/contract/reconciliation.ts";
import { htmlPage, operations } from "./operation.ts";
import { choice, limit, offset, skipped, text } from "./query.ts";

const lengthMax = 65_536;
const sentAsQuery = (what: string, example: string) =>
  text(`${what}, as JSON; absent: the manifest`, example, lengthMax);

/** The Reconciliation Service API, 0.2 at /reconcile and 1.0-draft at /reconcile/v1. Source: reconciliation-api.github.io. */
export const reconciliationOperations = operations("Reconciliation", {
  getReconciliation: {
    path: addresses.reconcile.path,
    query: z.object({
      queries: sentAsQuery("A batch of queries", '{"q0": {"query": "Hope Kitchen"}}'),
      extend: sentAsQuery(
        "A data extension query",
        '{"ids": ["hope-kitchen"], "properties": [{"id": "org_id"}]}',
      ),
      callback: text("JSONP is refused", "show"),
    }),
    ok: { description: "The manifest, or the answer to the query", shape: ManifestOrAnswer },
    refusals: [413],
  },
  reconcileNames: {
    method: "post",
    path: addresses.reconcile.path,
    description: `\`queries\`: at most ${batchMax} names, each with properties if you like: org_id (any spelling of a register number) decides alone, country, region and city tell namesakes apart. A batch counts as one read for every five names, or 150 letters where that is more.`,
    body: {
      shape: ReconciliationForm,
      refusal: "invalid_queries",
      storesNothing: true,
      mediaType: "application/x-www-form-urlencoded",
    },
    ok: { description: "Candidates by the keys of the queries", shape: KeyedAnswer },
  },
  getReconciliationDraft: {
    path: addresses.reconcileManifest.path,
    ok: { description: "The manifest", shape: Manifest },
  },
  matchNames: {
    method: "post",
    path: addresses.reconcileMatch.path,
    body: { shape: DraftBatch, refusal: "invalid_queries", storesNothing: true },
    ok: { description: "Candidates of each query", shape: DraftAnswer },
  },
  suggestForReconciliation: {
    path: addresses.reconcileSuggest.path,
    query: z.object({
      prefix: text("What was typed", "hope ki"),
      limit: limit(10, 20),
      offset,
      // The same in version 0.2.
      cursor: skipped("cursor"),
    }),
    ok: { description: "Suggestions", shape: Suggestions },
  },
  previewForReconciliation: {
    path: addresses.reconcilePreview.path,
    query: z.object({ id: text("Slug of the nonprofit", "hope-kitchen") }),
    ok: htmlPage,
    refusals: [404],
  },
  proposeProperties: {
    path: addresses.reconcilePropose.path,
    query: z.object({
      type: choice("type", ["nonprofit"], "The type; there is one", "nonprofit"),
      limit: limit(50, 50),
    }),
    ok: { description: "The properties", shape: Proposal },
  },
  extendNonprofits: {
    method: "post",
    path: addresses.reconcileExtend.path,
    description: `At most ${batchMax} nonprofits at a time; an id that no nonprofit has gets no values.`,
    body: { shape: ExtendBody, refusal: "invalid_extend", storesNothing: true },
    ok: { description: "The data", shape: ExtendAnswer },
  },
  matchTable: {
    method: "post",
    path: addresses.reconcileTable.path,
    description: `At most ${tableRowsMax} rows and 64 KiB. The first line names the columns: name, and if you like country, region, city and org_id. Commas, semicolons or tabs delimit them, and the answer. The page /match sends this form where there is no script.`,
    body: {
      shape: z
        .object({ table: z.string().describe("The CSV, or a file of it in multipart/form-data") })
        .meta({
          id: "ReconciliationTable",
          examples: [{ table: "name,country\nHope Kitchen,Kenya\n" }],
        }),
      refusal: "invalid_table",
      storesNothing: true,
      mediaType: "application/x-www-form-urlencoded",
    },
    ok: {
      description: "The same rows with almoner_id, org_id, matched_name, score and match",
      mediaType: "text/csv",
      shape: "text",
      example: "name,country,almoner_id,org_id,matched_name,score,match\r\n",
    },
  },
});
