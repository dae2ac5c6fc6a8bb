import { z } from "zod";
import { named, texts } from "#content/contract/base/json.ts";
import { otherType } from "./problem.ts";

/** The most names in one batch, and organisations in one request for data (docs/decisions/22-reconciliation.md). */
export const batchMax = 50;
/** The most rows of a table that is sent as a whole. */
export const tableRowsMax = 500;
/** The most rows that the page /match sends, batch by batch. */
export const browserRowsMax = 20_000;
/** How many names, or letters of long names, count as one read: long names take longest. */
export const perRead = { names: 5, letters: 150 } as const;
const candidates = { default: 5, max: 10 } as const;
const textMax = 500;
const listMax = 30;

const text = z.string().max(textMax);
/** The content of a cell. A long one is cut, so that it does not invalidate the names beside it. */
const cell = z.string().overwrite((cellText) => cellText.slice(0, textMax).toWellFormed());
const Value = z.union([cell, z.number(), z.boolean(), z.object({ id: cell })]);
const Values = z.union([Value, z.array(Value).max(listMax)], {
  error: `Send a text, a number, true or false, {"id": "..."}, or a list of at most ${listMax} of them.`,
});
const limitError = `limit is a whole number from 1; above ${candidates.max} it is capped.`;
const limit = z
  .int({ error: limitError })
  .min(1, { error: limitError })
  .overwrite((count) => Math.min(count, candidates.max))
  .default(candidates.default);
const typeError = { error: 'There is one type here: send "nonprofit", or leave type out.' };
const oneType = z.literal(["nonprofit", ""], typeError);
/** The type of thing that is meant, always the same. */
const type = z.union([oneType, z.array(oneType)], typeError).nullish();

/** A query of version 0.2. */
export const Query = z.object({
  query: cell.optional(),
  type,
  limit,
  properties: z
    .array(z.object({ pid: text, v: Values }))
    .max(listMax)
    .default([]),
});

export type Query = z.output<typeof Query>;

/** The properties that candidates can be required to have. */
const requirable = ["country", "region", "city", "org_id"];

export const DraftQuery = z.object({
  type,
  limit,
  conditions: z
    .array(
      z
        .object({
          matchType: z.enum(["name", "id", "property"]),
          propertyId: text.optional(),
          propertyValue: Values,
          required: z.boolean().default(false),
          matchQuantifier: z
            .enum(["any", "all"], { error: "matchQuantifier is any or all here; leave none out" })
            .default("any"),
        })
        .refine(
          ({ required, matchType, propertyId = "" }) =>
            !required || matchType !== "property" || requirable.includes(propertyId),
          `required is for the properties ${requirable.join(", ")}: leave it out of others.`,
        ),
    )
    .min(1, 'Send at least one condition: {"matchType": "name", "propertyValue": "a name"}.')
    .max(listMax),
});

export type DraftQuery = z.output<typeof DraftQuery>;

const Batch = z
  .array(DraftQuery)
  .max(batchMax, `A batch has at most ${batchMax} queries: send more batches.`);
export const DraftBatch = z
  .object(
    { queries: Batch },
    otherType(
      'Send {"queries": [{"conditions": [{"matchType": "name", "propertyValue": "a name"}]}]}.',
    ),
  )
  .meta({ id: "ReconciliationBatch" });

/** The body of a request for data of organisations. */
export const ExtendBody = z
  .object(
    {
      ids: z
        .array(text)
        .max(batchMax, `Send at most ${batchMax} ids at a time.`)
        .meta({ examples: [["hope-kitchen"]] }),
      properties: z
        .array(z.object({ id: text }))
        .max(listMax)
        .meta({ examples: [[{ id: "org_id" }, { id: "website" }]] }),
    },
    otherType('Send {"ids": ["hope-kitchen"], "properties": [{"id": "org_id"}]}.'),
  )
  .meta({ id: "ReconciliationExtendBody" });
export type ExtendBody = z.infer<typeof ExtendBody>;

/** The body of a form: one of the two members, as JSON. */
export const ReconciliationForm = z
  .object(
    {
      queries: z.string().optional().describe("A batch of queries of version 0.2, as JSON"),
      extend: z.string().optional().describe("A data extension query, as JSON"),
    },
    otherType('Send a form: queries={"q0": {"query": "a name"}}, or extend.'),
  )
  .meta({
    id: "ReconciliationForm",
    examples: [{ queries: '{"q0": {"query": "Hope Kitchen"}}' }],
  });

const Item = z.object({ id: z.string(), name: z.string(), description: z.string().optional() });

const Candidate = named("ReconciliationCandidate", {
  id: z.string().describe("Slug of the nonprofit"),
  name: z.string(),
  description: z.string().describe("Where it is"),
  type: z.array(z.object({ id: z.string(), name: z.string() })),
  score: z.number().describe("0 to 100"),
  match: z
    .boolean()
    .describe("Whether it is taken for the one; docs/decisions/22 has the precision"),
  features: z.array(z.object({ id: z.string(), name: z.string(), value: z.number() })),
});
export type Candidate = z.infer<typeof Candidate>;

export const DraftAnswer = named("ReconciliationResults", {
  results: z.array(z.object({ candidates: z.array(Candidate) })),
});
export const Suggestions = named("ReconciliationSuggestions", {
  result: z.array(Item.extend({ notable: z.array(Item).optional().describe("Its types") })),
});
export const Proposal = named("ReconciliationProperties", {
  type: z.string(),
  limit: z.int().optional(),
  properties: z.array(Item),
});
const Cell = z.union([
  z.object({ str: z.string() }),
  z.object({ int: z.int() }),
  z.object({ float: z.number() }),
]);
export type Cell = z.infer<typeof Cell>;
export const ExtendAnswer = named("ReconciliationData", {
  meta: z.array(Item),
  rows: z.array(
    z.object({
      id: z.string(),
      properties: z.array(z.object({ id: z.string(), values: z.array(Cell) })),
    }),
  ),
});
export type ExtendAnswer = z.infer<typeof ExtendAnswer>;

/** Clients choose the keys of version 0.2 answers, so only their kind is described. */
export const KeyedAnswer = z
  .looseObject({})
  .meta({ id: "ReconciliationAnswer", examples: [{ q0: { result: [] } }] });

/** The manifest that a client reads first; the two versions write it differently. */
export const Manifest = z
  .looseObject({
    versions: texts,
    name: z.string(),
    view: z.object({ url: z.string() }),
    batchSize: z.int(),
  })
  .meta({
    id: "ReconciliationManifest",
    examples: [
      {
        versions: ["1.0-draft"],
        name: "Almoner",
        view: { url: "https://almoner.example/nonprofits/{id}" },
        batchSize: batchMax,
      },
    ],
  });

/** What /reconcile answers: the manifest or, to a query, members whose names the client chose. */
export const ManifestOrAnswer = Manifest.partial().meta({
  ...Manifest.meta(),
  id: "ReconciliationManifestOrAnswer",
});
