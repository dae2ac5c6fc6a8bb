import { randomBytes } from "node:crypto";
import { Elysia } from "elysia";
import { z } from "zod";
import type { Config } from "#api/config.ts";
import { answerOf } from "#api/http/encoded-body.ts";
import { readJson } from "#api/http/body.ts";
import { answerError } from "#api/http/problem.ts";
import { placeWith } from "#api/http/query.ts";
import { openLog } from "#api/log.ts";
import type { OperatorContext } from "#api/operator/operators.ts";
import { operatorRoutes } from "#api/operator/routes.ts";
import { findService } from "#api/operator/running-service.ts";
import { loadSecrets } from "#api/secrets.ts";
import type { Operation, ParamsOf } from "#content/contract/operations/operation.ts";
import { systemClock } from "#content/contract/time.ts";
import { openStore } from "#content/store/open.ts";
import { bundleExists } from "#site/bundle/manifest.ts";
import { openBundleReader, publicationOf } from "#site/delivery/bundle-reader.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { configOrExit, stopWith } from "./config.ts";

/** What the operator's API answered: the value, or why not, as its problem says it. */
export type OperatorAnswer<Value> =
  | { ok: true; value: Value }
  | { ok: false; failure: { kind: string; message: string } };

/** What an operation is asked with. */
export type Asked<Path extends string> = {
  params?: ParamsOf<Path>;
  query?: Readonly<Record<string, string | number | null | undefined>>;
  body?: unknown;
};

type Called<Path extends string, Answer extends z.ZodObject> = Pick<
  Operation<Path, z.ZodObject, z.ZodObject, Answer>,
  "method" | "path" | "ok"
>;

/** Calls an operation of the operator's API and reads its answer by its shape. */
export type OperatorApi = <Path extends string, Answer extends z.ZodObject>(
  operation: Called<Path, Answer>,
  asked: Asked<Path>,
) => Promise<OperatorAnswer<z.output<Answer>>>;

/** A person at a terminal waits longer for another writer than a request does. */
const busyWaitMs = 30_000;
const answerWaitMs = 120_000;

/**
 * Lets a command use the operator's API in the name of `operator`: that of the service that serves this data folder,
 * over HTTP, or, when none runs, the same routes on the store in this process.
 */
export async function withOperatorApi<Value>(
  operator: string,
  work: (call: OperatorApi) => Promise<Value>,
): Promise<Value> {
  const config = configOrExit();
  const url = await findService(config.dataDir);
  if (url === null) return withLocalRoutes(config, operator, work);
  const token = tokenOf(config, operator);
  const send: Send = (path, init) =>
    fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(answerWaitMs) });
  return work((operation, asked) => answered(send, token, operation, asked));
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

async function answered<Path extends string, Answer extends z.ZodObject>(
  send: Send,
  token: string,
  { method, path, ok }: Called<Path, Answer>,
  { params, query = {}, body }: Asked<Path>,
): Promise<OperatorAnswer<z.output<Answer>>> {
  const values: Readonly<Record<string, string>> = params ?? {};
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ""),
  );
  const response = await send(placeWith(place, query), {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const value: unknown = await response.json();
  if (response.ok) return { ok: true, value: ok.shape.parse(value) };
  const { code = String(response.status), detail = "" } = Refused.parse(value);
  return { ok: false, failure: { kind: code, message: detail } };
}

const Refused = z.object({ code: z.string().optional(), detail: z.string().optional() });

/** The token by which the running service knows this operator; the default name stands for the first one. */
function tokenOf(config: Config, operator: string): string {
  const { adminTokens } = loadSecrets(config);
  const own = adminTokens.find(({ name }) => name === operator);
  const token = own ?? (operator === defaultOperator ? adminTokens[0] : undefined);
  if (token !== undefined) return token.token;
  const names = adminTokens.map(({ name }) => name).join(", ");
  return stopWith(
    `--operator: the running service knows ${names}; ALMONER_ADMIN_TOKENS names them.`,
    2,
  );
}

/** Whom commands act for unless they are told. */
export const defaultOperator = "operator";

async function withLocalRoutes<Value>(
  config: Config,
  operator: string,
  work: (call: OperatorApi) => Promise<Value>,
): Promise<Value> {
  const store = await openStore({
    url: config.databaseUrl,
    authToken: config.databaseToken,
    busyWaitMs,
  });
  const { bundle } = publisherFolders(config.dataDir);
  const reader = bundleExists(bundle) ? openBundleReader(bundle) : null;
  try {
    const token = randomBytes(32).toString("base64url");
    const allowed = { allowed: true, limit: 1, remaining: 1, resetMs: 0, windowMs: 0 };
    const log = openLog(config);
    const context: OperatorContext = {
      store,
      config,
      clock: systemClock,
      // Anyone who can read the data folder is the operator: the token only names them to the routes.
      secrets: { ...loadSecrets(config), adminTokens: [{ name: operator, token }] },
      limits: { adminFailures: () => ({ ...allowed, policy: "read" }) },
      activity: { count: () => undefined },
      curated: { lookAgain: () => undefined },
      chain: null,
      ...(reader === null ? {} : { publication: () => publicationOf(reader) }),
    };
    const routes = new Elysia()
      .onParse({ as: "global" }, ({ request, contentType }) => readJson(request, contentType))
      .onError({ as: "global" }, ({ error, code }) => answerError(log, error, code))
      .mapResponse({ as: "global" }, ({ responseValue, request, set }) =>
        answerOf(responseValue, request, set),
      )
      .use(operatorRoutes(context));
    const send: Send = (path, init) => routes.handle(new Request(`http://localhost${path}`, init));
    return await work((operation, asked) => answered(send, token, operation, asked));
  } finally {
    reader?.close();
    store.close();
  }
}

/** Options that commands of operators share. */
export const json = { type: "boolean", description: "Answer as JSON on standard output" } as const;
export const operator = {
  type: "string",
  default: defaultOperator,
  description: "Who decides, for the audit log",
} as const;

export type Output = { json?: boolean | undefined };

/** The value of an answer; a refusal ends the process with its words. */
export function valueOf<Value>(answer: OperatorAnswer<Value>): Value {
  return answer.ok ? answer.value : stopWith(answer.failure.message);
}

/** Asks for something and prints it: as JSON, or in these lines. A refusal ends the process with its words. */
export async function show<Path extends string, Answer extends z.ZodObject>(
  args: Output & { operator?: string | undefined },
  operation: Called<Path, Answer>,
  asked: Asked<Path>,
  linesOf: (value: z.output<Answer>) => readonly string[],
): Promise<z.output<Answer>> {
  // An option --operator of a command that only shows something says whose work it shows.
  const by = operation.method === "get" ? defaultOperator : (args.operator ?? defaultOperator);
  return withOperatorApi(by, async (call) => {
    const value = valueOf(await call(operation, asked));
    if (args.json === true) console.log(JSON.stringify(value));
    else for (const line of linesOf(value)) console.log(line);
    return value;
  });
}

/** The lines of a page of a list: its items, or that it is empty, and how to see more. */
export const pageLines = (
  items: readonly string[],
  empty: string,
  [option, next]: readonly [string, string | number | null],
): string[] => [
  ...items,
  ...(items.length === 0 ? [empty] : []),
  ...(next === null ? [] : [`More: ${option} ${next}`]),
];

/** Has something done in an operator's name and says so; what was not done ends with exit code 1. */
export async function change<Path extends string, Answer extends z.ZodObject>(
  args: Output & { operator: string },
  subject: string,
  operation: Called<Path, Answer>,
  asked: Asked<Path>,
  sentence: (value: z.output<Answer>) => string,
): Promise<void> {
  const outcome = await withOperatorApi(args.operator, (call) => call(operation, asked));
  if (args.json === true) console.log(JSON.stringify(outcome));
  else if (outcome.ok) console.log(sentence(outcome.value));
  else console.error(`${subject}: ${outcome.failure.message}`);
  if (!outcome.ok) process.exitCode = 1;
}

/** An option that must not be empty; without it the process ends with what it is for. */
export function neededOption(name: string, value: string | undefined, what: string): string {
  const text = value?.trim() ?? "";
  return text === "" ? stopWith(`--${name}: ${what}`, 2) : text;
}

export const pageLimit = {
  type: "string",
  default: "50",
  description: "How many to show (up to 200)",
} as const;

/** Where a page of a list begins. */
export const place = {
  type: "string",
  description: "Continue after a page: give what its last line says",
} as const;

/** The option --limit. */
export function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1) stopWith("--limit: give a whole number from 1.", 2);
  return limit;
}

/** The option --before: the number that a page ended with; null without it. */
export function pageNumberOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const before = Number(text);
  if (Number.isInteger(before) && before > 0) return before;
  return stopWith("--before: give the number that a page ended with.", 2);
}
