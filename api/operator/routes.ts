import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { problem } from "#api/http/problem.ts";
import { pathOf, schemaOf } from "#api/http/route.ts";
import { type Action, actions } from "./actions.ts";
import { operatorOf } from "./operators.ts";

const all: readonly Action[] = Object.values(actions);

/** The operator's JSON API. Who is no operator is refused before anything else is looked at; nothing is cached. */
export function operatorRoutes(context: Context) {
  const routes = new Elysia().derive(({ request }) => ({
    operator: operatorOf(context, request).name,
  }));
  for (const action of all) {
    const { operation } = action;
    routes.route(
      operation.method.toUpperCase(),
      pathOf(operation),
      async ({ operator, params, query, body }) => {
        const outcome = await action.perform(context, { operator, params, query, body });
        return outcome.ok ? encodedJson(outcome.value, "no-store") : problem(outcome.failure);
      },
      schemaOf(operation),
    );
  }
  return routes;
}
