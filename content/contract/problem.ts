import { z } from "zod";

/** RFC 9457: every refusal of the service. `error` repeats `detail`, because published clients read that name. */
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
      .optional()
      .describe("What is wrong where"),
    parameter: z.string().optional().describe("The query parameter that cannot be used"),
    allowed: z.array(z.string()).optional().describe("The values that the parameter may have"),
    reasons: z
      .array(z.object({ part: z.string(), why: z.string() }))
      .optional()
      .describe("Which parts of the directory do not work"),
    request_id: z
      .string()
      .optional()
      .describe("Of an error on our side: the log has it under this name"),
    example: z.unknown().optional().describe("A request that would be accepted"),
  })
  .meta({ id: "Problem" });

/** What is wrong, and where. */
export type Wrong = { path: string; message: string };

/** A body that cannot be used names at most this many faults. */
export const wrongsMax = 20;

/** What a shape says of a body that does not fit it; places are written like "fields[2].value". */
export const wrongsOf = ({ issues }: z.core.$ZodError): Wrong[] =>
  issues.slice(0, wrongsMax).map(({ path, message }) => ({
    path: path
      .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
      .join("")
      .replace(/^\./, "")
      .slice(0, 100),
    message: message.slice(0, 300),
  }));

/**
 * What a shape says of a value that is absent or of another type. A text instead of this would stand in the place of what
 * is said of one that is too long, too.
 */
export const otherType = (words: string | undefined) => ({
  error: ({ code }: z.core.$ZodRawIssue) => (code === "invalid_type" ? words : undefined),
});

/** Titles of refusals, by their status. */
export const problemTitles = {
  400: "Bad request",
  401: "Not authorised",
  402: "Payment required",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  410: "Gone",
  413: "Body too large",
  414: "Address too long",
  415: "Unsupported media type",
  422: "Cannot be accepted",
  429: "Too many requests",
  500: "Internal error",
  503: "Temporarily unavailable",
  507: "Storage full",
} as const;

/** The answer to an Idempotency-Key of other characters, or of too many. */
export const invalidIdempotencyKey = {
  status: 400,
  detail:
    "Idempotency-Key cannot be used: send 1 to 255 printable characters without spaces, for example a UUID.",
} as const;

/** The answer to an Idempotency-Key that came with another request before, wherever it was sent. */
export const idempotencyKeyReused = {
  status: 409,
  detail: "This Idempotency-Key was used for another request in the last 24 hours. Send a new one.",
} as const;

/** The answer to a slug that no nonprofit has, wherever it was sent. */
export const nonprofitNotFound = {
  status: 404,
  detail: "No nonprofit has this slug. GET /api/search?q=name finds one.",
} as const;
