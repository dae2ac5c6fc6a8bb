import { writeSync } from "node:fs";
import pino, { type Logger } from "pino";
import { z } from "zod";
import { withoutContacts } from "#content/nonprofit/text.ts";
import type { Config } from "./config.ts";

export type Log = Pick<Logger, "info" | "warn" | "error" | "debug">;

/** Whether the log is JSON: then everything else written to stderr has to be a line of the log, too. */
export const isJsonLog = ({ logFormat }: Pick<Config, "logFormat">): boolean =>
  (logFormat ?? (process.stderr.isTTY ? "plain" : "json")) === "json";

/** The log of a process on stderr, in JSON or plain text, without personal data and secrets. */
export const openLog = (config: Pick<Config, "logLevel" | "logFormat">): Logger =>
  pino(
    {
      level: config.logLevel,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFacts, asked: queryFacts },
    },
    isJsonLog(config)
      ? pino.destination({ dest: 2, sync: true })
      : { write: (line) => writeSync(2, plainLine(line)) },
  );

/** Logs events of the publisher; those with an error as errors, which are seen at any log level. */
export const eventsTo =
  (log: Logger) =>
  (event: string, detail: object = {}): void =>
    ("error" in detail ? log.error : log.info).call(log, detail, event);

/** "2026-06-01T12:00:00.000Z WARN  the store refused code=store_busy"; a stack follows in lines of its own. */
export function plainLine(json: string): string {
  const { level, time, msg, pid: _pid, ...facts } = LogLine.parse(JSON.parse(json));
  const words = Object.entries(facts).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return ` ${name}=${/[\s"]/.test(text) && typeof value === "string" ? JSON.stringify(text) : text}`;
  });
  const label = pino.levels.labels[level]?.toUpperCase().padEnd(5) ?? level;
  return `${time} ${label} ${msg}${words.join("")}\n`;
}

const LogLine = z.looseObject({ level: z.number(), time: z.string(), msg: z.string().default("") });

const traceForm = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

/** The trace id from a request's `traceparent`; null without one. Source: W3C Trace Context. */
export const traceOf = ({ headers }: Request): string | null =>
  traceForm.exec(headers.get("traceparent") ?? "")?.[1] ?? null;

const requestIds = new WeakMap<Request, string>();

/** The id of a request in the log and in error answers: its trace id, or else a random one. */
export function requestIdOf(request: Request): string {
  const id = requestIds.get(request) ?? traceOf(request) ?? crypto.randomUUID();
  requestIds.set(request, id);
  return id;
}

/** What is logged of a query: its texts without personal data. Computed only when the level is logged. */
export const queryFacts = (query: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      typeof value === "string" ? withoutContacts(scrub(value)) : value,
    ]),
  );

type ErrorFacts = { type: string; message: string; stack?: string; cause?: ErrorFacts };

const causesMax = 5;
const textLengthMax = 4_000;

/** What is logged of an error: its type, message, stack and causes, without personal data. */
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
  // The message of a failed query quotes its parameters, which may be anything that a client sent.
  [/\bparams: [^\n]*/g, "params: [left out]"],
  [/[^\s"'<>()[\]{},;:=]{1,64}@[^\s"'<>()[\]{},;:=]{1,255}/g, "[e-mail]"],
  [/\bBearer\s+\S{1,1000}/gi, "Bearer [token]"],
  [/([?&](?:token|key|secret|auth[a-z]*)=)[^&\s"']{1,1000}/gi, "$1[secret]"],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, "[address]"],
  [/(?<![\w:])(?:[\da-f]{1,4}:){3,7}[\da-f]{0,4}(?::[\da-f]{1,4}){0,4}(?![\w:])/gi, "[address]"],
  [/(?<![\w:])(?:[\da-f]{1,4}:){1,6}(?::[\da-f]{1,4}){1,6}(?![\w:])/gi, "[address]"],
];

/** A text without e-mail addresses, network addresses, tokens and secret query parameters. */
export const scrub = (text: string): string =>
  personal.reduce(
    (clean, [pattern, placeholder]) => clean.replaceAll(pattern, placeholder),
    text.slice(0, textLengthMax),
  );
