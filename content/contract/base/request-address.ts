/** What a request asks for, still encoded: of which host, the path, and what stands behind a question mark, "" for nothing. */
export type RequestAddress = {
  readonly host: string;
  readonly path: string;
  readonly hasQuery: boolean;
  readonly query: string;
  /** What the query says, once it was read. */
  parameters?: Readonly<Record<string, string>>;
};

const read = new WeakMap<Request, RequestAddress>();

/**
 * The one reading of a request's address. Its URL is that of api/http/listen.ts: absolute, without a fragment, and its
 * path is all between the first "/" behind the host and the first "?".
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
