import { Elysia } from "elysia";
import type { z } from "zod";
import { parametersOf } from "#content/contract/base/request.ts";
import type { Operation, ParamsOf } from "#content/contract/operations/operation.ts";
import { exampleOf } from "#content/contract/base/example.ts";
import { fitted } from "#content/contract/problem.ts";
import { pathIn } from "#content/contract/addresses.ts";
import { RefusalError, unusableBody } from "./problem.ts";

/** "/api/nonprofits/{slug}" becomes "/api/nonprofits/:slug" for Elysia. */
type RoutePath<Path extends string> = Path extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${RoutePath<After>}`
  : Path;

/** The path of an operation, for Elysia. */
export const pathOf = <const Path extends string>({ path }: { path: Path }) =>
  path.replaceAll(/\{(\w+)\}/g, ":$1") as RoutePath<Path>;

/**
 * The schema of an operation for Elysia: the handler's `query` and `body` are what the contract makes of them. Of a
 * repeated parameter the first counts; unknown ones are ignored. The body is checked last, after an operator's token;
 * `help` is added to its refusal.
 */
export const schemaOf = <Query extends z.ZodObject, Body extends z.ZodObject>(
  { query, body }: Pick<Operation<string, Query, Body>, "query" | "body">,
  help: Record<string, unknown> = {},
) => ({
  query: query as Query,
  // Elysia's own parser makes a list of a repeated parameter.
  transform: (context: { request: Request; query: unknown }) => {
    context.query = parametersOf(context.request);
  },
  body: (body?.refusal === undefined ? undefined : refusingSchema(body, help)) as BodySchema<Body>,
});

type BodySchema<Shape extends z.ZodObject> = {
  "~standard": { types?: { input: unknown; output: z.output<Shape> } };
};

/** The shape in the form that Elysia takes; it refuses in our words. */
const refusingSchema = (
  { shape, refusal = "", storesNothing, list }: NonNullable<Operation["body"]>,
  extensions: Record<string, unknown>,
) => ({
  "~standard": {
    version: 1,
    vendor: "zod",
    validate: (input: unknown) => {
      const isList = list !== undefined && Array.isArray(input);
      const result = fitted(shape, isList ? { [list]: input } : input);
      if (result.ok) return { value: result.value };
      throw new RefusalError({
        code: refusal,
        ...unusableBody(result.failure, storesNothing),
        extensions,
      });
    },
  },
});

/** The parts of a request as the contract reads them; a body that only a verb checks is passed as it came. */
type RouteInput<Path extends string, Query extends z.ZodObject, Body extends z.ZodObject> = {
  request: Request;
  params: ParamsOf<Path>;
  query: z.output<Query>;
  body: z.output<Body>;
  set: { headers: Record<string, string | number> };
};

/** Pairs an operation with the function that answers it. */
export const route = <
  const Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
>(
  operation: Operation<Path, Query, Body>,
  answer: (input: RouteInput<Path, Query, Body>) => unknown,
) => ({ operation, answer: answer as (input: never) => unknown });

export const serve = (...routes: readonly ReturnType<typeof route>[]) => serveIn(["en"], ...routes);

/** An Elysia app with these routes at their addresses in each of these languages. */
export function serveIn(
  languages: readonly string[],
  ...answered: readonly ReturnType<typeof route>[]
) {
  const routes = new Elysia();
  for (const { operation, answer } of answered) {
    for (const language of languages) {
      routes.route(
        operation.method.toUpperCase(),
        pathIn(language, pathOf(operation)),
        answer as () => unknown,
        schemaOf(operation),
      );
    }
  }
  return routes;
}

/** An example request for a refusal. The slug is filled in only if the client sent a valid one. */
export const helpFor = (
  { method, path, body }: Pick<Operation, "method" | "path" | "body">,
  baseUrl: string,
  slug = "",
): Record<string, unknown> => ({
  example: {
    method: method.toUpperCase(),
    url: `${baseUrl}${/^[a-z0-9-]+$/.test(slug) ? path.replace("{slug}", slug) : path}`,
    headers: { "content-type": "application/json" },
    body: body && exampleOf(body.shape),
  },
  ...(body?.examples === undefined ? {} : { examples: body.examples }),
});

type Route = { method: string; path: string };

/** Finds the routes that fit a path, those without placeholders first, as the router does. */
export function routesByPath<Item extends Route>(
  routes: readonly Item[],
): (path: string) => Item[] {
  const paths = [...Map.groupBy(routes, ({ path }) => path)].map(([path, same]) => ({
    fits: patternOf(path),
    same,
  }));
  const isExact = ({ path }: Route) => !/[:*]/.test(path);
  const exact = Map.groupBy(routes.filter(isExact), ({ path }) => path);
  const patterns = paths.filter(({ same }) => !same.every(isExact));
  return (path) => [
    ...(exact.get(path) ?? exact.get(path.replace(/\/$/, "")) ?? []),
    ...patterns.filter(({ fits }) => fits.test(path)).flatMap(({ same }) => same),
  ];
}

/** The methods that these routes take; empty for no routes. HEAD comes with GET, OPTIONS always. */
export function methodsOf(routes: readonly Route[]): string[] {
  const methods = new Set(routes.map(({ method }) => method.toUpperCase()));
  if (methods.size === 0) return [];
  if (methods.delete("ALL")) for (const method of ["GET", "POST"]) methods.add(method);
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods, "OPTIONS"].sort();
}

function patternOf(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (part === "*") return ".*";
    if (part.startsWith(":")) return "[^/]+";
    return part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join("/")}/?$`);
}
