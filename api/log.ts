import pino, { type Logger } from "pino";
import { withoutContacts } from "#content/nonprofit/text.ts";
import type { Config } from "./config.ts";

/** What the service logs with. */
export type Log = Pick<Logger, "info" | "warn" | "error" | "debug">;

/** The log of a process: JSON lines on stderr, without personal data and secrets. */
export const openLog = ({ logLevel }: Pick<Config, "logLevel">): Logger =>
  pino(
    {
      level: logLevel,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFacts, asked: queryFacts },
    },
    pino.destination({ dest: 2, sync: true }),
  );

/** What is logged of a query: its texts without personal data. Made only when the level is logged. */
export const queryFacts = (asked: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(asked).map(([name, value]) => [
      name,
      typeof value === "string" ? withoutContacts(scrub(value)) : value,
    ]),
  );

type ErrorFacts = { type: string; message: string; stack?: string; cause?: ErrorFacts };

const causesMax = 5;
const textLengthMax = 4_000;

/** What is logged of an error: its kind, message, stack and causes, with personal data taken out. */
export function errorFacts(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error)) return { type: typeof error, message: scrub(String(error)) };
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message: scrub(message),
    ...(stack === undefined ? {} : { stack: scrub(stack) }),
    ...(cause === undefined || depth >= causesMax ? {} : { cause: errorFacts(cause, depth + 1) }),
  };
}

const personal: readonly (readonly [RegExp, string])[] = [
  // A failed query quotes its parameters, which may be anything that a client sent.
  [/\bparams: [^\n]*/g, "params: [left out]"],
  [/[^\s"'<>()[\]{},;:=]{1,64}@[^\s"'<>()[\]{},;:=]{1,255}/g, "[e-mail]"],
  [/\bBearer\s+\S{1,1000}/gi, "Bearer [token]"],
  [/([?&](?:token|key|secret|auth[a-z]*)=)[^&\s"']{1,1000}/gi, "$1[secret]"],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, "[address]"],
  [/(?<![\w:])(?:[\da-f]{1,4}:){3,7}[\da-f]{0,4}(?::[\da-f]{1,4}){0,4}(?![\w:])/gi, "[address]"],
  [/(?<![\w:])(?:[\da-f]{1,4}:){1,6}(?::[\da-f]{1,4}){1,6}(?![\w:])/gi, "[address]"],
];

/** A text without e-mail addresses, network addresses, tokens and query parameters. */
export const scrub = (text: string): string =>
  personal.reduce(
    (clean, [pattern, placeholder]) => clean.replaceAll(pattern, placeholder),
    text.slice(0, textLengthMax),
  );
