import { z } from "zod";
import { named } from "#content/contract/base/json.ts";
import { otherType } from "./problem.ts";

/** The fields that agents can complete, in the contract's order. */
export const enrichableFields = [
  "mission",
  "description",
  "tagline",
  "website",
  "city",
  "region",
  "founded_year",
  "contact_email",
  "programme",
  "impact_metric",
] as const;

/** Fields that go live when two agents agree. */
export const structuredFields = [
  "website",
  "city",
  "region",
  "founded_year",
  "contact_email",
] as const;

/** Fields that queue for a person and never go live by agreement. */
export const proseFields = [
  "mission",
  "description",
  "tagline",
  "programme",
  "impact_metric",
] as const;

export const whichField = `field must be one of ${enrichableFields.join(", ")}.`;
export const EnrichableField = z
  .enum(enrichableFields, { error: whichField })
  .meta({ id: "EnrichableField" });
export type EnrichableField = z.infer<typeof EnrichableField>;
export type StructuredField = (typeof structuredFields)[number];

export const FieldType = z.enum(["structured", "prose"]);
export type FieldType = z.infer<typeof FieldType>;

export const SubmissionStatus = z.enum(["pending", "applied", "rejected"]);
export type SubmissionStatus = z.infer<typeof SubmissionStatus>;

const structuredNames = new Set<string>(structuredFields);

/** `programme` and `impact_metric` are in neither list; they queue like prose. */
export const fieldTypeOf = (field: EnrichableField): FieldType =>
  structuredNames.has(field) ? "structured" : "prose";

/** A nonprofit has any number of programmes and metrics, so one more can always be added. */
export const isRowField = (field: string): field is "programme" | "impact_metric" =>
  field === "programme" || field === "impact_metric";

export const isStructured = (field: string): field is StructuredField => structuredNames.has(field);

/** The greatest lengths of values, in characters. */
export const lengthMax: Readonly<Record<EnrichableField, number>> = {
  tagline: 160,
  mission: 1_000,
  description: 5_000,
  programme: 2_000,
  impact_metric: 2_000,
  website: 2_048,
  contact_email: 254,
  city: 100,
  region: 100,
  founded_year: 100, // The year may stand in a short phrase.
};

/** The seven fields that needs-enrichment reports and filters by, in this order. */
export const wantedFields = [
  "description",
  "website",
  "city",
  "region",
  "mission",
  "founded_year",
  "contact_email",
] as const;
export type WantedField = (typeof wantedFields)[number];
export const needsLimit = { default: 10, max: 50 } as const;
export const exemplarsLimit = { default: 20, max: 100 } as const;

export const agentLengthMax = 128;
export const sourceUrlLengthMax = 2_048;
export const batchItemsMax = 20;

/** No text in a request is longer than this, however it is counted. */
const unitsMax = 20_000;

/** A text of at most this many characters, counted where it is read: one character may be two units here. */
export const countedText = (lengthMaxOfText: number, words?: string) =>
  z
    .string(otherType(words))
    .max(unitsMax, `Send at most ${lengthMaxOfText.toLocaleString("en")} characters.`)
    .meta({ maxLength: lengthMaxOfText });

/** An optional text: absent, null and "" all mean that none was given. */
export const optionalText = (lengthMaxOfText: number, shape = z.string().max(lengthMaxOfText)) =>
  shape
    .nullish()
    .transform((text) => (text === undefined || text === null || text.trim() === "" ? null : text));

const field = EnrichableField.describe("The field that the value completes");
const value = z
  .string(otherType('value is a text; send a year as "1998", an object as JSON in a string.'))
  .min(1)
  .describe("The data as text; for programme and impact_metric a JSON object in a string, or text");
const source_url = optionalText(sourceUrlLengthMax).describe(
  "http(s) address at which the data was found; beside `fields`, of all items without their own",
);

/** One item of a batch. */
export const EnrichmentItem = named("EnrichmentItem", { field, value, source_url });

/** A valid body, shown in the API's description and to anyone who sent an invalid one. */
export const enrichmentExample = {
  field: "website",
  value: "https://hope-kitchen.example",
  source_url: "https://register.example/hope-kitchen",
  agent_id: "research-bot-7",
  agent_name: "Research Bot",
} as const;

/** The body of POST /api/enrich/{slug}: one submission, a batch, or both (`field` is then one more item). */
export const EnrichmentBody = named(
  "EnrichmentBody",
  {
    field: field.nullish(),
    value: value.nullish(),
    source_url,
    agent_id: z
      .string(otherType("agent_id is required: a stable text that names your agent."))
      .min(1)
      .max(agentLengthMax)
      .describe("Stable id of the agent; distinct ids count toward consensus"),
    agent_name: optionalText(agentLengthMax).describe("Name for people; the id when absent"),
    fields: z
      .array(EnrichmentItem)
      .max(batchItemsMax)
      .nullish()
      .describe("A batch, stored as a whole or not at all; each field at most once"),
  },
  { examples: [enrichmentExample] },
);
export type EnrichmentBody = z.infer<typeof EnrichmentBody>;
