import { AwsClient } from "aws4fetch";
import { retry, type RetryOptions } from "#content/runtime/retry.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";

/** A bucket, and where in it the bundle lies. */
export type S3Address = {
  bucket: string;
  /** Before every key: "" or text that ends with a slash. */
  prefix: string;
  /** What stands before the key in URLs, without a trailing slash. */
  baseUrl: string;
  region: string;
};

export type S3Keys = {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
};

export type BadTarget = { kind: "not_an_address" | "bad_endpoint" | "no_keys"; message: string };

export type UploadFailure = {
  /** `denied` will not get better by trying again, with this or another file. */
  kind: "denied" | "unreachable";
  message: string;
};

/** Where files are brought. A put or remove that answers ok is stored; both try again by themselves. */
export type UploadTarget = {
  /** Tells this target from others, also in the next process. */
  readonly name: string;
  put(
    key: string,
    body: Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
  ): Promise<Result<null, UploadFailure>>;
  remove(key: string): Promise<Result<null, UploadFailure>>;
};

/** How a store is reached: what the settings of a directory say. */
export type S3Access = {
  /** Of a store that is not Amazon's. */
  endpoint: string | undefined;
  region: string;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  sessionToken: string | undefined;
};

/** Reads "s3://bucket/prefix", and checks what is needed to write there. */
export function readS3Target(
  text: string,
  { endpoint, region, accessKeyId, secretAccessKey, sessionToken }: S3Access,
): Result<{ address: S3Address; keys: S3Keys }, BadTarget> {
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) {
    return bad("not_an_address", "A target is written s3://bucket or s3://bucket/prefix.");
  }
  if (endpoint !== undefined && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint)) {
    return bad("bad_endpoint", "The store's endpoint is an origin like https://s3.store.example.");
  }
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return bad("no_keys", "Set ALMONER_S3_ACCESS_KEY_ID and ALMONER_S3_SECRET_ACCESS_KEY.");
  }
  const inner = path.replace(/^\/+|\/+$/g, "");
  const prefix = inner === "" ? "" : `${inner}/`;
  return ok({
    address: { bucket, prefix, region, baseUrl: originOf(bucket, region, endpoint) },
    keys: { accessKeyId, secretAccessKey, sessionToken },
  });
}

const bad = (kind: BadTarget["kind"], message: string) => fail({ kind, message });

/** Amazon wants the bucket in the host name; other stores are sure to understand it only in the path. */
function originOf(bucket: string, region: string, endpoint: string | undefined): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/$/, "")}/${bucket}`;
  const amazon = `s3.${region}.amazonaws.com`;
  // A dot in a bucket's name does not fit Amazon's certificate.
  return bucket.includes(".") ? `https://${amazon}/${bucket}` : `https://${bucket}.${amazon}`;
}

export type S3Options = {
  retry?: RetryOptions;
  /** Ends a try that hangs. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
};

const retryDefault: RetryOptions = { triesMax: 5, firstMs: 200, factor: 3 };
const timeoutMsDefault = 120_000;

/** Opens a bucket of any S3-compatible store. Nothing is asked of it yet. */
export function openS3Target(
  address: S3Address,
  keys: S3Keys,
  options: S3Options = {},
): UploadTarget {
  const client = new AwsClient({
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey,
    ...(keys.sessionToken === undefined ? {} : { sessionToken: keys.sessionToken }),
    region: address.region,
    service: "s3",
  });
  const urlOf = (key: string) =>
    `${address.baseUrl}/${(address.prefix + key).split("/").map(encodeURIComponent).join("/")}`;
  // Signed again for each try, because a signature holds for minutes only.
  const ask = (url: string, init: RequestInit) =>
    withRetries(async (signal) => fetch(await client.sign(url, init), { signal }), options);
  return {
    name: `${address.baseUrl}/${address.prefix}`,
    put: (key, body, headers) => ask(urlOf(key), { method: "PUT", body, headers }),
    remove: (key) => ask(urlOf(key), { method: "DELETE" }),
  };
}

async function withRetries(
  send: (signal: AbortSignal) => Promise<Response>,
  { retry: waits = retryDefault, timeoutMs = timeoutMsDefault, signal }: S3Options,
): Promise<Result<null, UploadFailure>> {
  const attempt = () => {
    const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
    return tryOnce(() => send(AbortSignal.any(limits)));
  };
  const mayPass = (failure: UploadFailure | null) =>
    failure?.kind === "unreachable" && signal?.aborted !== true;
  const failure = await retry(attempt, mayPass, waits);
  return failure === null ? ok(null) : fail(failure);
}

async function tryOnce(send: () => Promise<Response>): Promise<UploadFailure | null> {
  try {
    const response = await send();
    const body = await response.text();
    if (response.ok) return null;
    const code = /<Code>(\w{1,60})<\/Code>/.exec(body)?.[1] ?? "";
    const passing = response.status >= 500 || response.status === 429 || response.status === 408;
    // These come with status 400, and go away.
    const again = passing || code === "RequestTimeout" || code === "SlowDown";
    return {
      kind: again ? "unreachable" : "denied",
      message: `the store answered ${response.status} ${code}`.trim(),
    };
  } catch (error) {
    return { kind: "unreachable", message: error instanceof Error ? error.message : "no answer" };
  }
}
