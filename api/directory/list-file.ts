import { setImmediate } from "node:timers/promises";
import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { readCacheControl } from "#api/http/headers.ts";
import { countMoreReads } from "#api/http/rate-limit.ts";
import { parametersOf } from "#api/http/route.ts";
import { addressOf } from "#content/contract/base/request-address.ts";
import * as files from "#content/contract/operations/list-file.ts";
import { withMatch } from "#content/find/answer.ts";
import type { SearchPage } from "#content/find/search.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";

/** Rows that are read and written at a time, and after how many what was left behind is collected. */
const [rowsPerChunk, rowsPerCollection] = [500, 2_000];
type ListFileQuery = {
  format?: string | undefined;
  fields?: readonly string[] | undefined;
  offset: number;
};
type ListMatches = Pick<SearchPage, "total" | "ids"> & Partial<SearchPage>;

/**
 * A list as a file of items of this shape, written while it is read; null where JSON is asked for. `find` looks for the first
 * `limit` behind the offset, unless the client has them. Throws RefusalError when the client may not read so much now.
 */
export async function listFile(
  { store, limits, config }: Pick<Context, "store" | "limits" | "config">,
  request: Request,
  {
    format = files.fileAccepted(request.headers.get("accept")) ?? "json",
    fields,
    offset,
  }: ListFileQuery,
  item: z.ZodObject,
  find: (limit: number) => Promise<ListMatches>,
): Promise<Response | null> {
  if (format !== "csv" && format !== "ndjson") return null;
  const { path, query } = addressOf(request);
  const version = `${await newestSequence(store)} ${format} ${path}?${query}`;
  // Weak: a change may come while it is written.
  const etag = `W/"${Bun.hash(version).toString(36)}"`;
  const headers = { "cache-control": readCacheControl, etag, vary: "Accept" };
  if (request.headers.get("if-none-match")?.includes(etag.slice(2)))
    return new Response(null, { status: 304, headers });
  const matches = await find(files.fileLimit.parse(parametersOf(request)["limit"]));
  const { total, ids } = matches;
  await countMoreReads(limits, request, ids.length / files.rowsPerRead);
  const columns = fields ?? Object.keys(item.shape);
  const { head, line } = files.writers[format](columns);
  async function* lines() {
    yield utf8.encode(head);
    for (let at = 0; at < ids.length; at += rowsPerChunk) {
      const chunk = ids.slice(at, at + rowsPerChunk);
      const items = await summariesById(store, chunk, config.baseUrl, columns);
      const rows = withMatch(items, { offset: offset + at }, { matching: 0, ...matches });
      yield utf8.encode(rows.map(line).join(""));
      // Others have their turn: the store holds up the thread while it reads.
      await setImmediate();
      // Most of it lies outside the heap that is measured: uncollected, 50,000 rows took 100 MB.
      if ((at + rowsPerChunk) % rowsPerCollection === 0) Bun.gc(true);
    }
  }
  // Bun takes an iterator, and asks it for as much as the client takes; its types do not say so.
  return new Response(lines() as unknown as ReadableStream, {
    headers: {
      ...headers,
      "content-type": `${files.fileTypes[format]}; charset=utf-8`,
      "content-disposition": `attachment; filename="${path.split("/").at(-1)}.${format}"`,
      "x-total-count": String(total),
      ...(ids.length === files.fileRowsMax &&
        offset + ids.length < total && { "x-truncated": "true" }),
    },
  });
}

const utf8 = new TextEncoder();

/** Whether an answer is such a file: what HEAD says of it is known before it is written. */
export const isListFile = ({ headers }: Response): boolean => headers.has("x-total-count");
