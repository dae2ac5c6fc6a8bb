import { z } from "zod";
import { parametersOf } from "#content/contract/base/request.ts";
import { cleanText } from "#content/contract/operations/query.ts";

/** A query parameter of an operator's page, without control characters, trimmed and cut; null when absent or empty. */
export const textIn = (request: Request, name: string, lengthMax?: number): string | null =>
  cleanText(parametersOf(request)[name] ?? "", lengthMax) ?? null;

/** Reads the query of an operator's page by an operation's shape; an unusable parameter counts as absent. */
export function queryIn<Query extends z.ZodObject>(
  request: Request,
  { query = z.object({}) as Query }: { query?: Query },
): z.output<Query> {
  const parameters = parametersOf(request);
  const usable = Object.entries(query.shape).filter(
    ([name, shape]) => z.safeParse(shape, parameters[name]).success,
  );
  return query.parse(Object.fromEntries(usable.map(([name]) => [name, parameters[name]])));
}

/** A path with the parameters that have a value. */
export function placeWith(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
}
