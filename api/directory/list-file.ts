import { setImmediate } from "node:timers/promises";
import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { readCacheControl } from "#api/http/headers.ts";
import { countMoreReads } from "#api/http/rate-limit.ts";
import { addressOf, parametersOf } from "#content/contract/base/request.ts";
import * as files from "#content/contract/operations/list-file.ts";
import { withMatch } from "#content/find/answer.ts";
import type { SearchPage } from "#content/find/search.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";

/** Rows that are read and written at a time. */
const rowsPerChunk = 500;
/** The number of rows after which garbage is collected. */
const rowsPerCollection = 2_000;
type ListFileQuery = {
  format?: string | undefined;
  fields?: readonly string[] | undefined;
  offset: number;
};
/**
 * A list as a file of items of this shape, written while it is read; null when JSON is requested. `find` gets the first
 * `limit` rows after the offset; it is not called if the client has them. Throws RefusalError when the read limit is used up.
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
  find: (limit: number) => Promise<Pick<SearchPage, "total" | "ids"> & Partial<SearchPage>>,
): Promise<Response | null> {
  if (format !== "csv" && format !== "ndjson") return null;
  const { path, query } = addressOf(request);
  const version = `${await newestSequence(store)} ${format} ${path}?${query}`;
  // Weak, because a change may come while the file is written.
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
      // The store blocks the thread while it reads, so other requests get a turn here.
      await setImmediate();
      // Most garbage is outside the measured heap: without collection, 50,000 rows took 100 MB.
      if ((at + rowsPerChunk) % rowsPerCollection === 0) Bun.gc(true);
    }
  }
  // Bun accepts an iterator and reads from it as fast as the client does; its types do not say so.
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

/** Whether an answer is such a file: its headers are known before it is written, so HEAD needs no body. */
export const isListFile = ({ headers }: Response): boolean => headers.has("x-total-count");
