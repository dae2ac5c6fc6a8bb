import type { Operation } from "#content/contract/operations/operation.ts";
import words from "#content/editorial/mcp-tools.json";
import { withoutUnsafe } from "#content/nonprofit/text.ts";
import { mcpTools } from "#content/openapi/mcp-tools.ts";

export type Call = { method: "GET" | "POST"; path: string; body?: unknown };

/** Sends a request to the service, in the same process or over HTTP. */
export type Ask = (call: Call) => Promise<Response>;

export type Answer = { ok: boolean; status: number; value: Readonly<Record<string, unknown>> };

/** The normal status of payment requirements. */
const paymentRequired = 402;
/** The request was not carried out and must be sent again to the new address. Source: RFC 9110, 15.4.9. */
const permanentRedirect = 308;

/** Sends a request, and sends it again if the answer redirects it. */
export async function answerTo(ask: Ask, call: Call): Promise<Answer> {
  let response = await ask(call);
  const location = response.headers.get("location");
  if (location !== null && (call.method === "GET" || response.status === permanentRedirect)) {
    const { pathname, search } = new URL(location, "http://localhost");
    response = await ask({ ...call, path: pathname + search });
  }
  const value: unknown = await response.json().catch(() => ({
    code: "answer_unreadable",
    detail: "The directory's answer could not be read.",
  }));
  const { ok, status } = response;
  return {
    ok: ok || status === paymentRequired,
    status,
    value: cleanAnswer(value) as Answer["value"],
  };
}

/** The request for an operation. The tool's shape has already checked the input. */
export function callOf(
  { method, path, query, body }: Operation,
  input: Readonly<Record<string, unknown>>,
): Call {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(input[name]));
  const params = new URLSearchParams();
  for (const name of Object.keys(query?.shape ?? {})) {
    const value = input[name];
    if (value !== undefined && value !== "") params.set(name, String(value).toWellFormed());
  }
  const members = Object.entries(input).filter(([name]) => name in (body?.shape.shape ?? {}));
  return {
    method: method === "get" ? "GET" : "POST",
    path: params.size === 0 ? address : `${address}?${params}`,
    ...(body === undefined ? {} : { body: Object.fromEntries(members) }),
  };
}

/** One segment of a path; "." and ".." would change the path. */
const segment = (slug: unknown): string =>
  encodeURIComponent(String(slug).toWellFormed()).replace(/^\.+$/, "_");

/** Longer than any field may be: text next to a user's wallet must not flood a model. */
const textLengthMax = 5_000;
const depthMax = 16;

/** Members with texts that we wrote. */
const ownWords = new Set(words.answers.own_words);

/**
 * Makes an answer safe for a model: texts lose control, bidi and invisible characters and are cut; in our own texts,
 * addresses become names of tools. Member names are cleaned too, because records may bring their own.
 */
function cleanAnswer(value: unknown, name = "", depth = 0): unknown {
  if (typeof value === "string")
    return ownWords.has(name) ? toolsNamed(cleanText(value)) : cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= depthMax) return null;
  if (Array.isArray(value)) return value.map((item) => cleanAnswer(item, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), cleanAnswer(item, key, depth + 1)]),
  );
}

function cleanText(text: string): string {
  const clean = withoutUnsafe(text);
  return clean.length <= textLengthMax ? clean : `${clean.slice(0, textLengthMax).toWellFormed()}…`;
}

/** Patterns of the operations' addresses in texts (with method, host and parameters), and the tool for each. */
const addressesInText = mcpTools
  .filter(({ door }) => door !== "none")
  .toSorted((a, b) => Number(b.operation.method === "post") - Number(a.operation.method === "post"))
  .map(({ name, operation: { method, path } }) => {
    const way = path.replaceAll(/\{\w+\}/g, String.raw`(?:\{\w+\}|[\w-]+)`);
    const verb = method === "get" ? "(?:GET )?" : String.raw`POST (?:\{[^}]*\} to )?`;
    return [
      new RegExp(
        String.raw`${verb}(?:https?://[^/\s]+)?${way}(?![\w/-])(?:\?[^\s,;)]*[^\s,;.)])?`,
        "g",
      ),
      name,
    ] as const;
  });

/** Replaces addresses in a text by the names of tools. */
export function toolsNamed(text: string): string {
  if (!text.includes("/")) return text;
  return addressesInText.reduce((read, [address, name]) => read.replaceAll(address, name), text);
}
