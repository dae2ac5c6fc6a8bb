/** The parts of a request's URL, still encoded: host, path, and the query after the question mark ("" for none). */
export type RequestAddress = {
  readonly host: string;
  readonly path: string;
  readonly hasQuery: boolean;
  readonly query: string;
  /** The parsed query, once it was read. */
  parameters?: Readonly<Record<string, string>>;
};

const read = new WeakMap<Request, RequestAddress>();

/**
 * Splits a request's URL, once per request. The URL is absolute and has no fragment (api/http/listen.ts); the path is
 * everything from the first "/" after the host to the first "?".
 */
export function addressOf(request: Request): RequestAddress {
  const before = read.get(request);
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
  read.set(request, address);
  return address;
}
