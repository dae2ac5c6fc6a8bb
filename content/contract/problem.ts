import { z } from "zod";
import { textOrNull, texts } from "#content/contract/base/json.ts";
import statuses from "#content/editorial/problem-statuses.json";
import { fail, ok, type Result } from "./base/result.ts";

/** A parameter or member of a body that is unknown where it was sent. */
export const IgnoredInput = z
  .object({
    name: z.string().describe("As it was sent; of a member where it stands, like fields[0].note"),
    nearest: textOrNull.describe("The known name that it may stand for"),
  })
  .meta({ id: "Ignored", examples: [{ name: "query", nearest: "q" }] });
export type IgnoredInput = z.infer<typeof IgnoredInput>;

/** Present in any answer when there is something to name. */
export const ignored = z
  .array(IgnoredInput)
  .optional()
  .describe("What was sent and is not known here: the request was answered without it");

/** RFC 9457: every refusal of the service. `error` repeats `detail`, because existing clients read that name. */
export const Problem = z
  .looseObject({
    type: z.string().describe("urn:almoner:problem:<code>"),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe("What went wrong, and what to send instead"),
    code: z.string().describe("Stable name of the failure, for programs"),
    error: z.string().describe("The same text as detail"),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .describe("What is wrong where; empty where no part of the request is"),
    parameter: z.string().optional().describe("The query parameter that cannot be used"),
    allowed: texts.optional().describe("The values that the parameter may have"),
    reasons: z
      .array(z.object({ part: z.string(), why: z.string() }))
      .optional()
      .describe("Which parts of the directory do not work"),
    request_id: z.string().describe("Of the request: the log names an error on our side by it"),
    ignored,
    example: z.unknown().optional().describe("A request that would be accepted"),
  })
  .meta({ id: "Problem" });

/** What is wrong, and where. */
export type Wrong = { path: string; message: string };

export const wrongsInWords = (wrongs: readonly Wrong[]): string =>
  wrongs
    .map(({ path, message }) => (message.startsWith(path) ? message : `${path}: ${message}`))
    .join(" ");

/** The most errors that are named for an unusable body. */
export const wrongsMax = 20;

/** Parses a value by its shape. A failure names each error in words for people, not in the validator's. */
export function fitted<Shape extends z.ZodType>(
  shape: Shape,
  input: unknown,
): Result<z.output<Shape>, Wrong[]> {
  const read = shape.safeParse(input, { error: inWords });
  return read.success ? ok(read.data) : fail(wrongsOf(read.error));
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

const units: Readonly<Record<string, string>> = { string: " characters", array: " items" };

/** What to send instead, for shapes without words of their own. */
function inWords(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "invalid_type") {
    return `Send ${typeNames[issue.expected] ?? "a value of another type"}.`;
  }
  if (issue.code === "too_big") {
    return `Send at most ${issue.maximum.toLocaleString("en")}${units[issue.origin] ?? ""}.`;
  }
  if (issue.code === "too_small") {
    const isEmpty = issue.minimum === 1 && issue.origin === "string";
    if (isEmpty) return "value is required";
    return `Send at least ${issue.minimum.toLocaleString("en")}${units[issue.origin] ?? ""}.`;
  }
  if (issue.code === "invalid_value") return `Send one of ${issue.values.map(String).join(", ")}.`;
  if (issue.code === "unrecognized_keys") {
    return `Leave out ${issue.keys.join(", ")}: nothing is known by that name here.`;
  }
  return "This does not have the form that the description of the API shows.";
}

/** The errors of a body that does not fit its shape; paths look like "fields[2].value". */
const wrongsOf = ({ issues }: z.core.$ZodError): Wrong[] =>
  issues.slice(0, wrongsMax).map(({ path, message }) => ({
    path: path
      .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
      .join("")
      .replace(/^\./, "")
      .slice(0, 100),
    message: message.slice(0, 300),
  }));

/**
 * The error for a value that is absent or of another type. A plain text here would also replace the error for a value that
 * is too long.
 */
export const otherType = (words: string | undefined) => ({
  error: ({ code }: z.core.$ZodRawIssue) => (code === "invalid_type" ? words : undefined),
});

export const problemTitles = statuses.titles;

/** The refusal of an Idempotency-Key that is too long or has other characters. */
export const invalidIdempotencyKey = {
  status: 400,
  detail:
    "Idempotency-Key cannot be used: send 1 to 255 printable characters without spaces, for example a UUID.",
} as const;

/** The refusal of an Idempotency-Key that was already used for another request. */
export const idempotencyKeyReused = {
  status: 409,
  detail: "This Idempotency-Key was used for another request in the last 24 hours. Send a new one.",
} as const;

/** The refusal of a slug that no nonprofit has. */
export const nonprofitNotFound = {
  status: 404,
  detail: "No nonprofit has this slug. GET /api/search?q=name finds one.",
} as const;
