import { Elysia } from "elysia";
import { historyOf } from "#content/donation/answers.ts";
import { donateTarget } from "#content/donation/target.ts";
import { donationTotals, recentDonations } from "#content/donation/store.ts";
import { freshCacheControl } from "#api/http/headers.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { problem } from "#api/http/problem.ts";

/** Source: decisions.md, "recent_donations item". */
const recentMax = 50;

/** GET /api/donations/{slug}: also of a withdrawn nonprofit, because what was given stays given. */
export const donationRoutes = ({
  store,
  clock,
  chain,
  config,
}: Pick<Context, "store" | "clock" | "chain" | "config">) =>
  new Elysia().get("/api/donations/:slug", async ({ params }) => {
    const target = await donateTarget(store, params.slug, clock());
    if (target === null) {
      const detail = "No nonprofit has this slug.";
      return problem({ status: 404, code: "nonprofit_not_found", detail });
    }
    const totals = await donationTotals(store, target.id);
    const recent = await recentDonations(store, target.id, recentMax);
    const place = { cluster: chain.cluster, baseUrl: config.baseUrl };
    return encodedJson(historyOf(target, { ...totals, recent }, place), freshCacheControl);
  });
