import { Elysia } from "elysia";
import { dailyNumbers, daysDefault, daysMax } from "./daily-numbers.ts";
import { operatorHealth } from "./operator-health.ts";
import { healthContext } from "./health-context.ts";
import { operatorOf } from "./operators.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";

/** What an operator watches: how the directory is, and what happened day by day. Never cached. */
export const adminHealthRoutes = (context: Context) =>
  new Elysia()
    .get("/api/admin/health", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      return encodedJson(await operatorHealth(healthContext(context)), "no-store");
    })
    .get("/api/admin/numbers", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const days = queryOf(request.url).number("days");
      if (!days.ok) return refuseParameter(days.failure);
      const count = Math.min(days.value ?? daysDefault, daysMax);
      return encodedJson(await dailyNumbers(context, count), "no-store");
    });
