import { AnswerRefused, boundedBytes, fetchPlain } from "#content/runtime/plain-fetch.ts";
import { AwsClient } from "aws4fetch";
import { retry, type RetryOptions } from "#content/runtime/concurrency.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";

export type UploadFailure = {
  /** `denied`: trying again, with this or another file, does not help. `missing`: there is no such key. */
  kind: "denied" | "unreachable" | "missing";
  message: string;
};

/** A place to which files are uploaded. `put` and `remove` return null on success; all methods retry by themselves. */
export type UploadTarget = {
  /** Identifies this target, in later processes too. */
  readonly name: string;
  put(
    key: string,
    body: Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
  ): Promise<UploadFailure | null>;
  remove(key: string): Promise<UploadFailure | null>;
};

/** A target that can also be read. */
export type ObjectStore = UploadTarget & {
  get(key: string): Promise<Result<Uint8Array<ArrayBuffer>, UploadFailure>>;
};

/** How a store is reached, from the settings of a directory. */
export type S3Access = {
  /** The origin of a store that is not Amazon's. */
  endpoint: string | undefined;
  region: string;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  sessionToken: string | undefined;
};

export type S3Options = {
  retry?: RetryOptions;
  /** How long a store may take to begin its answer, in milliseconds. */
  waitMs?: number;
  signal?: AbortSignal | undefined;
};

const retryDefault: RetryOptions = { triesMax: 5, firstMs: 200, factor: 3 };
/** The longest that one try may take. */
const timeoutMs = 120_000;
/** The longest until its answer begins, and a second more for each 140 kB sent. */
const waitMsDefault = 20_000;
const slowestBytesPerMs = 140;
/** The largest objects that are read are parts of a backup, of a little more than 16 MB. */
const answerBytesMax = 64 * 2 ** 20;
const never = new AbortController().signal;

/**
 * Opens "s3://bucket/prefix" in any S3-compatible store, without sending a request. The failure says in words which setting
 * is missing or wrong.
 */
export function openS3Target(
  text: string,
  access: S3Access,
  { retry: waits = retryDefault, waitMs = waitMsDefault, signal = never }: S3Options = {},
): Result<ObjectStore, string> {
  const { endpoint, region } = access;
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) return fail("A target is written s3://bucket or s3://bucket/prefix.");
  if (endpoint !== undefined && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint)) {
    return fail("The store's endpoint is an origin like https://s3.store.example.");
  }
  const client = awsClient(access, "s3");
  if (client === null) {
    return fail("Set ALMONER_S3_ACCESS_KEY_ID and ALMONER_S3_SECRET_ACCESS_KEY.");
  }
  const origin = originOf(bucket, region, endpoint);
  const inner = path.replace(/^\/+|\/+$/g, "");
  const prefix = inner === "" ? "" : `${inner}/`;
  const ask = (key: string, init: RequestInit, bytes = 0) => {
    const url = `${origin}/${(prefix + key).split("/").map(encodeURIComponent).join("/")}`;
    // Each try is signed again, because a signature is valid for minutes only.
    const attempt = async () => {
      const silent = new AbortController();
      const timeout = new Error(`no answer within ${waitMs / 1_000} s`);
      const timer = setTimeout(() => silent.abort(timeout), waitMs + bytes / slowestBytesPerMs);
      const limit = AbortSignal.any([silent.signal, AbortSignal.timeout(timeoutMs), signal]);
      return answerOf(async () => {
        const request = await client.sign(url, init);
        return fetchPlain(request, { signal: limit }).finally(() => clearTimeout(timer));
      });
    };
    const mayPass = (answer: Answer) =>
      !answer.ok && answer.failure.kind === "unreachable" && !signal.aborted;
    return retry(attempt, mayPass, waits);
  };
  const failureOf = async (request: Promise<Answer>) => {
    const answer = await request;
    return answer.ok ? null : answer.failure;
  };
  return ok({
    name: `${origin}/${prefix}`,
    put: (key, body, headers) => failureOf(ask(key, { method: "PUT", body, headers }, body.length)),
    remove: (key) => failureOf(ask(key, { method: "DELETE" })),
    get: (key) => ask(key, { method: "GET" }),
  });
}

/** Makes a client that signs requests to Amazon or the like; null without keys. CloudFront has one region, us-east-1. */
export function awsClient(
  { region, accessKeyId, secretAccessKey, sessionToken }: Omit<S3Access, "endpoint">,
  service: "s3" | "cloudfront",
): AwsClient | null {
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  return new AwsClient({ ...keys, region: service === "s3" ? region : "us-east-1", service });
}

/** Amazon wants the bucket in the host name; other stores certainly accept it only in the path. */
function originOf(bucket: string, region: string, endpoint: string | undefined): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/$/, "")}/${bucket}`;
  const amazon = `s3.${region}.amazonaws.com`;
  // Amazon's certificate does not cover a bucket name with a dot.
  return bucket.includes(".") ? `https://${amazon}/${bucket}` : `https://${bucket}.${amazon}`;
}

type Answer = Result<Uint8Array<ArrayBuffer>, UploadFailure>;

async function answerOf(send: () => Promise<Response>): Promise<Answer> {
  try {
    const response = await send();
    const body = await boundedBytes(response, answerBytesMax);
    if (response.ok) return ok(body);
    const code = /<Code>(\w{1,60})<\/Code>/.exec(new TextDecoder().decode(body))?.[1] ?? "";
    const isTransient =
      response.status >= 500 || response.status === 429 || response.status === 408;
    // These errors come with status 400, but are temporary.
    const again = isTransient || code === "RequestTimeout" || code === "SlowDown";
    return fail({
      kind: again ? "unreachable" : code === "NoSuchKey" ? "missing" : "denied",
      message: `the store answered ${response.status} ${code}`.trim(),
    });
  } catch (error) {
    return fail(withoutAnswer(error));
  }
}

function withoutAnswer(error: unknown): UploadFailure {
  if (error instanceof AnswerRefused) return { kind: "denied", message: error.message };
  const { code, message = "no answer" } = Object(error) as { code?: unknown; message?: string };
  const text = typeof code === "string" ? `no answer (${code})` : message;
  return { kind: "unreachable", message: text };
}
