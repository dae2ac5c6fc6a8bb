import { createHash, timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import { bearerOf, isLocal } from "#api/http/client.ts";
import { type Refusal, Refused } from "#api/http/problem.ts";
import { pathOf } from "#api/http/route.ts";
import { serviceOperations as service } from "#content/contract/operations/directory.ts";
import type { Ready } from "#content/contract/stats.ts";
import type { Metrics } from "./metrics.ts";
import type { OperatorContext } from "./operators.ts";
import type { openReadiness } from "./readiness.ts";

const notOpen: Refusal = {
  status: 403,
  code: "metrics_not_open",
  detail:
    "Metrics are read on this machine, without a proxy, or with the token of ALMONER_METRICS_TOKEN as Authorization: Bearer.",
};

/** What machines ask that watch over the service. None of it may be cached. */
export const probeRoutes = (
  { config, publication, chain }: Pick<OperatorContext, "config" | "publication" | "chain">,
  { readiness, metrics }: { readiness: ReturnType<typeof openReadiness>; metrics: Metrics },
) =>
  new Elysia()
    .get(pathOf(service.getHealth), ({ set }) => {
      // Asks nothing of the store, so that a busy one is not taken for dead. No cache may answer in its place.
      set.headers["cache-control"] = "no-store";
      return { status: "ok" };
    })
    .get(pathOf(service.getReadiness), async ({ set }): Promise<Ready> => {
      const reasons = await readiness();
      if (reasons.length > 0) {
        const detail = `${reasons.map(({ why }) => why).join("; ")}.`;
        const headers = { "retry-after": "5" };
        throw new Refused({ status: 503, code: "not_ready", detail, extra: { reasons }, headers });
      }
      set.headers["cache-control"] = "no-store";
      const publisher = publication === undefined ? "none" : "ok";
      const asked = chain === null || chain.nodes === 0 ? "none" : "ok";
      return { status: "ready", parts: { store: "ok", chain: asked, publisher } };
    })
    .get("/metrics", async ({ request }) => {
      const { metricsToken } = config;
      const isOpen =
        metricsToken === undefined ? isLocal(request) : isToken(bearerOf(request), metricsToken);
      if (!isOpen) throw new Refused(notOpen);
      const headers = { "content-type": metrics.contentType, "cache-control": "no-store" };
      return new Response(await metrics.text(), { headers });
    });

const digest = (text: string) => createHash("sha256").update(text).digest();

const isToken = (given: string | null, token: string): boolean =>
  given !== null && timingSafeEqual(digest(given), digest(token));
