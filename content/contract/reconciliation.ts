import { z } from "zod";
import { named } from "./base/shape.ts";

/** Names in one batch, and organisations in one request for their data. Source: docs/decisions/0168. */
export const batchMax = 50;
/** Rows of a table that is sent whole. */
export const tableRowsMax = 500;
/** Rows that the page /match sends batch by batch. */
export const browserRowsMax = 20_000;
/** A batch counts as a read for every so many names, or letters where names are long: long ones take longest. */
export const perRead = { names: 5, letters: 150 } as const;
const candidates = { default: 5, max: 10 } as const;
const textMax = 500;
const listMax = 30;

const text = z.string().max(textMax);
const Value = z.union([text, z.number(), z.boolean(), z.object({ id: text })]);
const Values = z.union([Value, z.array(Value).max(listMax)]);
const limit = z
  .number()
  .transform((given) => Math.min(Math.max(Math.trunc(given), 1), candidates.max))
  .default(candidates.default);

/** A query of version 0.2. Types are all the same here, and are not looked at. */
export const Query = z.object({
  query: text.optional(),
  limit,
  properties: z
    .array(z.object({ pid: text, v: Values }))
    .max(listMax)
    .default([]),
});

export type Query = z.output<typeof Query>;

/** A query of 1.0-draft. */
export const DraftQuery = z.object({
  limit,
  conditions: z
    .array(
      z.object({
        matchType: z.enum(["name", "id", "property"]),
        propertyId: text.optional(),
        propertyValue: Values,
        required: z.boolean().default(false),
        matchQuantifier: z
          .enum(["any", "all"], { error: "matchQuantifier is any or all here; leave none out" })
          .default("any"),
      }),
    )
    .min(1)
    .max(listMax),
});

export type DraftQuery = z.output<typeof DraftQuery>;

const Batch = z
  .array(DraftQuery)
  .max(batchMax, `A batch has at most ${batchMax} queries: send more batches.`);
export const DraftBatch = named("ReconciliationBatch", { queries: Batch });

/** What is asked for the data of organisations. */
export const ExtendBody = named("ReconciliationExtendBody", {
  ids: z
    .array(text)
    .max(batchMax, `Send at most ${batchMax} ids at a time.`)
    .meta({ examples: [["hope-kitchen"]] }),
  properties: z
    .array(z.object({ id: text }))
    .max(listMax)
    .meta({ examples: [[{ id: "org_id" }, { id: "website" }]] }),
});
export type ExtendBody = z.infer<typeof ExtendBody>;

/** What a form sends: one of both, as JSON. */
export const ReconciliationForm = named("ReconciliationForm", {
  queries: z
    .string()
    .optional()
    .meta({ examples: ['{"q0": {"query": "Hope Kitchen"}}'] })
    .describe("A batch of queries of version 0.2, as JSON"),
  extend: z.string().optional().describe("A data extension query, as JSON"),
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
    .describe("Whether it is taken for the one; docs/decisions/0167 has the precision"),
  features: z.array(z.object({ id: z.string(), name: z.string(), value: z.number() })),
});
export type Candidate = z.infer<typeof Candidate>;

export const DraftAnswer = named("ReconciliationResults", {
  results: z.array(z.object({ candidates: z.array(Candidate) })),
});
export const Suggestions = named("ReconciliationSuggestions", { result: z.array(Item) });
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

/** Answers of version 0.2 are keyed by what clients send, so that only their kind is described. */
export const KeyedAnswer = z
  .looseObject({})
  .meta({ id: "ReconciliationAnswer", examples: [{ q0: { result: [] } }] });

/** What a client learns first. The two versions say it differently. */
export const Manifest = z
  .looseObject({
    versions: z.array(z.string()),
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
