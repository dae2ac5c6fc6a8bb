import { randomBytes } from "node:crypto";
import { Elysia } from "elysia";
import type { z } from "zod";
import type { Config } from "#api/config.ts";
import { answerOf } from "#api/http/encoded-body.ts";
import { readJson } from "#api/http/body.ts";
import { answerError } from "#api/http/problem.ts";
import { openLog } from "#api/log.ts";
import type { OperatorContext } from "#api/operator/actions.ts";
import { operatorRoutes } from "#api/operator/routes.ts";
import { findService } from "#api/operator/running-service.ts";
import { loadSecrets } from "#api/secrets.ts";
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

export type OperatorCall = {
  method?: "GET" | "POST";
  path: string;
  query?: Record<string, string | number | null | undefined>;
  body?: unknown;
};

export type OperatorApi = {
  readonly config: Config;
  /** Calls a route of the operator's API and reads its answer by the shape. */
  readonly call: <Shape extends z.ZodType>(
    call: OperatorCall,
    shape: Shape,
  ) => Promise<OperatorAnswer<z.infer<Shape>>>;
};

/** A person at a terminal waits longer for another writer than a request does. */
const busyWaitMs = 30_000;
const answerWaitMs = 120_000;

/**
 * Lets a command use the operator's API in the name of `operator`: that of the service that serves this data folder,
 * over HTTP, or, when none runs, the same routes on the store in this process.
 */
export async function withOperatorApi(
  operator: string,
  work: (api: OperatorApi) => Promise<void>,
): Promise<void> {
  const config = configOrExit();
  const url = await findService(config.dataDir);
  if (url === null) return withLocalRoutes(config, operator, work);
  const token = tokenOf(config, operator);
  const send = (path: string, init: RequestInit) =>
    fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(answerWaitMs) });
  await work({ config, call: (call, shape) => answered(send, token, call, shape) });
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

async function answered<Shape extends z.ZodType>(
  send: Send,
  token: string,
  { method = "GET", path, query = {}, body }: OperatorCall,
  shape: Shape,
): Promise<OperatorAnswer<z.infer<Shape>>> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
  const response = await send(`${path}${search}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const value: unknown = await response.json();
  if (response.ok) return { ok: true, value: shape.parse(value) };
  const { code, detail } = value as { code?: string; detail?: string };
  return { ok: false, failure: { kind: code ?? String(response.status), message: detail ?? "" } };
}

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

async function withLocalRoutes(
  config: Config,
  operator: string,
  work: (api: OperatorApi) => Promise<void>,
): Promise<void> {
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
    await work({ config, call: (call, shape) => answered(send, token, call, shape) });
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

/** Prints the outcome of a decision; one that was not taken ends with exit code 1. */
export function showOutcome<Value>(
  output: Output,
  subject: string,
  outcome: OperatorAnswer<Value>,
  sentence: (value: Value) => string,
): void {
  if (output.json === true) console.log(JSON.stringify(outcome));
  else if (outcome.ok) console.log(sentence(outcome.value));
  else console.error(`${subject}: ${outcome.failure.message}`);
  if (!outcome.ok) process.exitCode = 1;
}

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
