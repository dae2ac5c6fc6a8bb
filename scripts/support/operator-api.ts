import type { z } from "zod";
import type { Config } from "#api/config.ts";
import { answerError, type Refusal } from "#api/http/problem.ts";
import { placeWith } from "#api/http/query.ts";
import { openLog } from "#api/log.ts";
import { type Action, actions } from "#api/operator/actions.ts";
import { findService } from "#api/operator/running-service.ts";
import { loadSecrets, openSecrets } from "#api/secrets.ts";
import type { Operation } from "#content/contract/operations/operation.ts";
import { Problem } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { bundleExists, publisherFolders } from "#site/bundle/manifest.ts";
import { openBundleReader, publicationState } from "#site/delivery/bundle-reader.ts";
import { print, textOption } from "./command.ts";
import { configOrExit, openExistingStore, stopWith } from "./config.ts";

/** The result of an operation: its value, or the code and text of its problem. */
type OperatorAnswer<Value> = Result<Value, { kind: string; message: string }>;

/** The input of an operation. */
export type OperationCall = {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | undefined>> | undefined;
  body?: unknown;
};

export type AdminOperation<Answer extends z.ZodObject = z.ZodObject> = Pick<
  Operation,
  "operationId" | "method" | "path" | "query" | "body"
> & { ok: { shape: Answer } };

/** Performs an operation of operators and parses its answer. */
export type OperatorApi = <Answer extends z.ZodObject>(
  operation: AdminOperation<Answer>,
  input: OperationCall,
) => Promise<OperatorAnswer<z.output<Answer>>>;

/** Performs operations in the running service, or in this process. */
type Connection = {
  ask: (
    operation: AdminOperation,
    input: OperationCall,
  ) => Promise<Result<unknown, Pick<Refusal, "code" | "detail">>>;
  close(): void;
};

/** A person at a terminal waits longer for another writer than a request does. */
const busyWaitMs = 30_000;
const answerWaitMs = 120_000;

/**
 * Lets a command act as `operator`: over HTTP through the service of this data folder or, when none runs, on the store in
 * this process.
 */
export async function withOperatorApi<Value>(
  operator: string,
  work: (call: OperatorApi) => Promise<Value>,
): Promise<Value> {
  const config = configOrExit();
  const url = await findService(config.dataDir);
  const connection =
    url === null ? await openActions(config, operator) : overHttp(url, tokenOf(config, operator));
  try {
    return await work(async (operation, input) => {
      const answer = await connection.ask(operation, input);
      if (answer.ok) return ok(operation.ok.shape.parse(answer.value));
      const { code, detail } = answer.failure;
      return fail({ kind: code, message: detail });
    });
  } finally {
    connection.close();
  }
}

const overHttp = (url: string, token: string): Connection => ({
  ask: async ({ method, path }, { params = {}, query = {}, body }) => {
    const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    const response = await fetch(`${url}${placeWith(place, query)}`, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(answerWaitMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.ok ? ok(await response.json()) : refusedBy(response);
  },
  close: () => {},
});

/** Why an operation failed. An answer that is no problem document, for example of a proxy, gives only its status. */
async function refusedBy(response: Response) {
  const { code = String(response.status), detail = "" } = Problem.partial().parse(
    await response.json(),
  );
  return fail({ code, detail });
}

/** The token of this operator in the running service; the default name stands for the first operator. */
function tokenOf(config: Config, operator: string): string {
  const { adminTokens } = loadSecrets(config);
  const tokenOfOperator = adminTokens.find(({ name }) => name === operator);
  const token = tokenOfOperator ?? (operator === defaultOperator ? adminTokens[0] : undefined);
  if (token !== undefined) return token.token;
  const names = adminTokens.map(({ name }) => name).join(", ");
  return stopWith(
    `--operator: the running service knows ${names}; ALMONER_ADMIN_TOKENS names them.`,
    2,
  );
}

/** The operator for whom commands act by default. */
export const defaultOperator = "operator";

/** Opens the store: anyone who can read the data folder may act as operator, under any name. */
async function openActions(config: Config, operator: string): Promise<Connection> {
  const store = await openExistingStore(config, { busyWaitMs });
  const { bundle } = publisherFolders(config.dataDir);
  const reader = bundleExists(bundle) ? openBundleReader(bundle) : null;
  const context = {
    store,
    config,
    clock: systemClock,
    secrets: await openSecrets(config, store, systemClock(), openLog(config)),
    curated: { lookAgain: () => undefined },
    chain: null,
    ...(reader === null ? {} : { publication: () => publicationState(reader) }),
  };
  const log = openLog(config);
  const all: Readonly<Record<string, Action>> = actions;
  return {
    ask: async ({ operationId, query: shape }, { params = {}, query, body }) => {
      const action = all[operationId];
      if (action === undefined) throw new Error(`operators do not do ${operationId}`);
      try {
        const input = { operator, params, query: shape?.parse(query ?? {}), body };
        return await action.perform(context, input);
      } catch (error) {
        return refusedBy(answerError(log, error, null));
      }
    },
    close: () => {
      reader?.close();
      store.close();
    },
  };
}

export const operator = { ...textOption, default: defaultOperator } as const;

/** Options as they were typed. */
export type Args = Readonly<Record<string, unknown>>;

/** The value of an answer; a refusal ends the process with its text. */
export function valueIn<Value>(answer: OperatorAnswer<Value>): Value {
  return answer.ok ? answer.value : stopWith(answer.failure.message);
}

/** The operator that the options name. */
export const nameIn = (args: Args): string => String(args["operator"] ?? defaultOperator);

/** Reads something and prints it as JSON or in lines. A refusal ends the process with its text. */
export async function show<Answer extends z.ZodObject>(
  args: Args,
  operation: AdminOperation<Answer>,
  input: OperationCall,
  linesOf: (value: z.output<Answer>) => readonly string[],
): Promise<z.output<Answer>> {
  // For a reading command, --operator filters the output instead.
  const by = operation.method === "get" ? defaultOperator : nameIn(args);
  return withOperatorApi(by, async (call) => {
    const value = valueIn(await call(operation, input));
    print(args, value, linesOf);
    return value;
  });
}

/**
 * Performs a change as an operator and prints the result, by default the answer's message. A refusal ends with exit code
 * 1.
 */
export async function change<Answer extends z.ZodObject>(
  args: Args,
  subject: string,
  operation: AdminOperation<Answer>,
  input: OperationCall,
  linesOf: (value: z.output<Answer>) => readonly string[] = ({ message }) => [
    `${subject}: ${String(message)}`,
  ],
): Promise<void> {
  const outcome = await withOperatorApi(nameIn(args), (call) => call(operation, input));
  if (args["json"] === true) console.log(JSON.stringify(outcome));
  else if (outcome.ok) for (const line of linesOf(outcome.value)) console.log(line);
  else console.error(`${subject}: ${outcome.failure.message}`);
  if (!outcome.ok) process.exitCode = 1;
}
