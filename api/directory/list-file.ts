import { setImmediate } from "node:timers/promises";
import type { z } from "zod";
import type { Context } from "#api/context.ts";
import { isNamedBy } from "#api/http/encoded-body.ts";
import { readCacheControl } from "#api/http/headers.ts";
import { Refused, unusableParameter } from "#api/http/problem.ts";
import { countMoreReads } from "#api/http/rate-limit.ts";
import { parametersOf } from "#api/http/route.ts";
import { addressOf } from "#content/contract/base/request-address.ts";
import {
  fileAccepted,
  fileLimit,
  fileRowsMax,
  fileTypes,
  rowsPerRead,
} from "#content/contract/operations/list-file.ts";
import { withMatch } from "#content/find/answer.ts";
import { fieldsAsked, writers } from "#content/find/list-file.ts";
import type { SearchPage } from "#content/find/search.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { fold } from "#content/nonprofit/text.ts";

/** Rows that are read and written at a time. */
const rowsPerChunk = 250;
const nameLengthMax = 80;

/** What is found of a list: how many there are, and who stands in the file. */
type Found = Pick<SearchPage, "total" | "ids"> & Partial<SearchPage>;
type Asked = { format?: string | undefined; fields?: string | undefined; offset: number };
type Needed = Pick<Context, "store" | "limits" | "log" | "config">;

/**
 * A list as a file of items of this shape, written while it is read; null where JSON is asked for. Answers 304 before
 * `find` looks for the first `limit` of those after the offset. Throws Refused for a field that no item has, and when the
 * client may not read so much now.
 */
export async function listFile(
  { store, limits, log, config }: Needed,
  request: Request,
  { format = fileAccepted(request.headers.get("accept")) ?? "json", fields, offset }: Asked,
  item: z.ZodObject,
  find: (limit: number) => Promise<Found>,
): Promise<Response | null> {
  if (format !== "csv" && format !== "ndjson") return null;
  const all = Object.keys(item.shape);
  const read = fieldsAsked(fields, all);
  if (!read.ok) throw new Refused(unusableParameter("fields", read.failure, all));
  const { path, query } = addressOf(request);
  const tag = Bun.hash(`${await newestSequence(store)} ${format} ${path}?${query}`).toString(36);
  // Weak: a change may come while it is written.
  const headers = { "cache-control": readCacheControl, etag: `W/"${tag}"`, vary: "Accept" };
  if (isNamedBy(tag, request.headers.get("if-none-match")))
    return new Response(null, { status: 304, headers });
  const asked = parametersOf(request);
  const found = await find(fileLimit.parse(asked["limit"]));
  const { total, ids } = found;
  await countMoreReads(limits, request, ids.length / rowsPerRead);
  const { head, line } = writers[format](read.value);
  async function* lines() {
    yield utf8.encode(head);
    try {
      for (let at = 0; at < ids.length; at += rowsPerChunk) {
        const items = await summariesById(store, ids.slice(at, at + rowsPerChunk), config.baseUrl);
        const rows = withMatch(items, { offset: offset + at }, { matching: 0, ...found });
        yield utf8.encode(rows.map(line).join(""));
        // Others have their turn: the store holds up the thread while it reads.
        await setImmediate();
      }
    } catch (error) {
      log.warn({ err: error }, "the file of a list ends early");
      throw error;
    }
  }
  const isCut = ids.length === fileRowsMax && offset + fileRowsMax < total;
  // Bun takes an iterator, and asks it for as much as the client takes; its types do not say so.
  return new Response(lines() as unknown as ReadableStream, {
    headers: {
      ...headers,
      "content-type": `${fileTypes[format]}; charset=utf-8`,
      "content-disposition": `attachment; filename="${nameOf(asked)}.${format}"`,
      "x-total-count": String(total),
      ...(isCut && { "x-truncated": "true" }),
    },
  });
}

const utf8 = new TextEncoder();

/** Whether an answer is such a file: what HEAD says of it is known before it is written. */
export const isListFile = ({ headers }: Response): boolean => headers.has("x-total-count");

/** A name of plain letters that tells what was asked for: nonprofits-health-ke. */
function nameOf({ q = "", near = "", cause = "", country = "", region = "", city = "" }): string {
  const plain = fold(`nonprofits ${[q, near, cause, country, region, city].join(" ")}`);
  return plain
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, nameLengthMax)
    .replace(/-$/, "");
}
