/** The parts of a request's URL, still encoded: host, path, and the query after the question mark ("" for none). */
export type RequestAddress = {
  readonly host: string;
  readonly path: string;
  readonly hasQuery: boolean;
  readonly query: string;
  /** The parsed query, once it was read. */
  parameters?: Readonly<Record<string, string>>;
};

const addresses = new WeakMap<Request, RequestAddress>();

/**
 * Splits a request's URL, once per request. The URL is absolute and has no fragment (api/http/listen.ts); the path is
 * everything from the first "/" after the host to the first "?".
 */
export function addressOf(request: Request): RequestAddress {
  const before = addresses.get(request);
  if (before !== undefined) return before;
  const { url } = request;
  const start = url.indexOf("//") + 2;
  const from = url.indexOf("/", start);
  const host = url.slice(start, from < 0 ? undefined : from);
  const target = from < 0 ? "/" : url.slice(from);
  const mark = target.indexOf("?");
  const address: RequestAddress =
    mark < 0
      ? { host, path: target, hasQuery: false, query: "" }
      : { host, path: target.slice(0, mark), hasQuery: true, query: target.slice(mark + 1) };
  addresses.set(request, address);
  return address;
}

/** The query parameters; of a repeated one the first. Bytes that cannot be decoded become U+FFFD. */
export function parametersOf(request: Request): Readonly<Record<string, string>> {
  const address = addressOf(request);
  if (address.parameters !== undefined) return address.parameters;
  const parameters: Record<string, string> = {};
  if (address.query !== "")
    for (const [name, value] of new URLSearchParams(address.query)) parameters[name] ??= value;
  return (address.parameters = parameters);
}

/** More names than any client sends. */
const namesMax = 50;

/** The names in an Accept or Accept-Encoding header in lower case, with their qualities. Source: RFC 9110, 12.4.2. */
export function qualitiesIn(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().replaceAll(/\s/g, "").split(",", namesMax)) {
    const [name = "", ...parameters] = part.split(";");
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    if (!qualities.has(name)) qualities.set(name, Number(quality) || 0);
  }
  return qualities;
}

/** Shorter files and answers hardly shrink, so they are sent as they are. */
export const compressFromBytes = 1_024;

/** Whether Accept-Encoding names an encoding without refusing it ("br;q=0"); a null header accepts none. */
export const acceptsEncoding = (header: string | null, encoding: "br" | "gzip"): boolean =>
  (qualitiesIn(header ?? "").get(encoding) ?? 0) > 0;
