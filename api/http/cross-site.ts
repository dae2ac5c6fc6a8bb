import { agentSecretOf } from "./client.ts";
import { problem } from "./problem.ts";
import type { LimitName } from "#content/contract/addresses.ts";

/** What is written in someone's name: the address of a visitor's browser must not lend itself to it. */
const written: readonly LimitName[] = ["enrich", "onboard", "correct", "bind"];

/**
 * Refuses what a page of another site has its visitor's browser send, null for all else. The secret of an agent lets its
 * owner's pages write; the verb checks it, so only whether one came matters here. Programs send no such header, and
 * payments (the widget, wallets) prove themselves. Source: W3C, "Fetch Metadata Request Headers".
 */
export function crossSiteWrite(limit: LimitName, client: Request): Response | null {
  if (!written.includes(limit)) return null;
  if (client.headers.get("sec-fetch-site") !== "cross-site") return null;
  if (limit === "enrich" && agentSecretOf(client) !== null) return null;
  return problem({
    status: 403,
    code: "cross_site_write",
    detail:
      "A page of another site had this browser send it (Sec-Fetch-Site: cross-site), so nothing was stored. Send it from a program or from a page of this directory; enrichments and drafts are also taken from anywhere with the agent's secret in Authorization: Bearer.",
  });
}
