import { addressesWhere } from "#content/language/address-pattern.ts";
import { tableText } from "#content/reconciliation/table.ts";
import { RefusalError } from "./problem.ts";

export const bodyBytesMax = 65_536;
const depthMax = 8;

/**
 * Reads the JSON body of a request; undefined when there is none. Throws RefusalError: 413 above 64 KiB (also chunked), 415 for
 * another content type, 400 for invalid JSON or JSON nested more than 8 deep.
 */
export async function readJson(request: Request, contentType: string): Promise<unknown> {
  if (contentType === "" && isEmpty(request)) return undefined;
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw new RefusalError({
      status: 415,
      code: "not_json",
      detail: "Send the body as JSON, with the header Content-Type: application/json.",
    });
  }
  const bytes = await readBody(request);
  try {
    return parsedJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw cause instanceof RefusalError ? cause : notJson(cause);
  }
}

/** Parses a JSON text. Throws RefusalError, 400, for invalid JSON or JSON nested more than 8 deep. */
export function parsedJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
  if (isDeeper(value, depthMax)) {
    const detail = `The body is nested more than ${depthMax} levels deep.`;
    throw new RefusalError({ status: 400, code: "too_deep", detail });
  }
  return value;
}

function notJson(cause: unknown): RefusalError {
  const detail = "The body is not valid JSON. Send one JSON value in UTF-8.";
  return new RefusalError({ status: 400, code: "invalid_json", detail }, { cause });
}

/** Some runtimes give a request without a body an empty one. */
const isEmpty = (request: Request): boolean =>
  request.body === null || request.headers.get("content-length") === "0";

/** The bytes of a body, at most 64 KiB: above that it stops reading and throws RefusalError (413). */
export async function readBody(request: Request): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  if (Number(length ?? 0) > bodyBytesMax) throw tooLarge();
  try {
    // Reading a stream costs more than everything else about a small body; a body of known length needs none.
    const bytes = length === null ? await readChunks(request) : await request.bytes();
    if (bytes.byteLength <= bodyBytesMax) return bytes;
  } catch (cause) {
    // The client disconnected, or was cut off because it was too slow.
    const detail = "The body did not arrive whole.";
    throw new RefusalError({ status: 400, code: "body_incomplete", detail }, { cause });
  }
  throw tooLarge();
}

const tooLarge = (): RefusalError =>
  new RefusalError({
    status: 413,
    code: "body_too_large",
    detail: `The body is too large: send at most ${bodyBytesMax} bytes.`,
  });

/**
 * Reads to the end, or until the limit is exceeded. It does not cancel the stream: a request rebuilt by `canonicalRequest`
 * (api/http/listen.ts) would wait for that for ever. Bun discards what is not read.
 */
async function readChunks(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read()) {
    size += chunk.value.byteLength;
    chunks.push(chunk.value);
    if (size > bodyBytesMax) break;
  }
  return Buffer.concat(chunks);
}

/** Whether arrays and objects are nested deeper than this. `Object.values` of a long array takes thirty times as long. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 ||
    (Array.isArray(value) ? value : Object.values(value)).some((inner) =>
      isDeeper(inner, levels - 1),
    ));

/** Whether a body is a form as a browser sends it without a script. */
export const isSentByForm = (request: Request): boolean =>
  /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "");

/**
 * The fields of a form, trimmed, with "\n" as line break. Of a repeated field the first counts. Throws RefusalError, 413, above
 * 64 KiB.
 */
export async function formFields(request: Request): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(
    new TextDecoder().decode(await readBody(request)),
  )) {
    if (!fields.has(name)) fields.set(name, value.toWellFormed().replaceAll(/\r\n?/g, "\n").trim());
  }
  return fields;
}

const formAddresses = addressesWhere(({ takes }) => takes === "form");
/** Whether this path takes forms; other routes take only JSON. */
export const takesForm = (path: string): boolean => formAddresses.test(path);

const tableAddresses = addressesWhere(({ takes }) => takes === "table");
/** Whether this path takes a table, as a file in a form or as the body itself. */
export const takesTable = (path: string): boolean => tableAddresses.test(path);

/** A table of at most 64 KiB: CSV itself, or the field `table` of a form. Throws RefusalError. */
export async function tableBody(request: Request): Promise<{ table: string }> {
  const type = request.headers.get("content-type") ?? "";
  const bytes = new Uint8Array(await readBody(request));
  if (/^text\/(?:csv|plain|tab-separated-values)\b/i.test(type)) return { table: tableText(bytes) };
  try {
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    const field = form.get("table");
    if (field === null) throw new Error("The form has no field `table`.");
    const table = typeof field === "string" ? field : tableText(await field.arrayBuffer());
    return { table };
  } catch (cause) {
    const detail =
      "Send CSV with Content-Type: text/csv, or as the field `table` of a form (multipart/form-data).";
    throw new RefusalError({ status: 415, code: "not_csv", detail }, { cause });
  }
}

/** The fields of a form as the body of a route. */
export const formBody = async (request: Request): Promise<Record<string, string>> =>
  Object.fromEntries(await formFields(request));

/** The texts of a form, or of JSON sent in its place. */
export const valuesIn = (body: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(body ?? {}).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );
