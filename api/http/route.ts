import type { z } from "zod";

/** "/api/nonprofits/{slug}" is "/api/nonprofits/:slug" where Elysia looks for it. */
type RoutePath<Path extends string> = Path extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${RoutePath<After>}`
  : Path;

/** The path of an operation, for Elysia. */
export const pathOf = <const Path extends string>({ path }: { path: Path }) =>
  path.replaceAll(/\{(\w+)\}/g, ":$1") as RoutePath<Path>;

/**
 * What Elysia reads and checks for an operation: the handler's `query` holds what the contract makes of the parameters.
 * Of a repeated parameter the first counts; unknown ones are ignored. Bodies are checked once, where they are used: their
 * refusals say what to send instead, and an operator's token counts before a body.
 */
export const schemaOf = <Query extends z.ZodObject>({ query }: { query?: Query }) => ({
  query: query as Query,
  // Elysia's own reading makes a list of what is repeated.
  transform: (context: { request: Request; query: unknown }) => {
    context.query = parametersOf(context.request.url);
  },
});

/** Any bytes are accepted: what cannot be decoded becomes U+FFFD. */
function parametersOf(url: string): Record<string, string> {
  const start = url.indexOf("?");
  const found: Record<string, string> = {};
  if (start === -1) return found;
  for (const [name, value] of new URLSearchParams(url.slice(start + 1).split("#", 1)[0])) {
    found[name] ??= value;
  }
  return found;
}
