import { Elysia } from "elysia";
import { dailyNumbers, daysDefault, daysMax } from "./daily-numbers.ts";
import { operatorHealth } from "./operator-health.ts";
import { healthParts } from "./health-parts.ts";
import { operatorOf } from "./operators.ts";
import type { Parts } from "#api/context.ts";
import { preparedJson } from "#api/http/encoded-body.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";

/** What an operator watches: how the directory is, and what happened day by day. Never cached. */
export const adminHealthRoutes = (parts: Parts) =>
  new Elysia()
    .get("/api/admin/health", async ({ request }) => {
      const operator = operatorOf(parts, request);
      if (operator instanceof Response) return operator;
      return preparedJson(await operatorHealth(healthParts(parts)), "no-store");
    })
    .get("/api/admin/numbers", async ({ request }) => {
      const operator = operatorOf(parts, request);
      if (operator instanceof Response) return operator;
      const days = queryOf(request.url).number("days");
      if (!days.ok) return refuseParameter(days.failure);
      const count = Math.min(days.value ?? daysDefault, daysMax);
      return preparedJson(await dailyNumbers(parts, count), "no-store");
    });
