import type { AuditEntry } from "#content/contract/audit.ts";
import { lastDecision } from "#api/operator/audit.ts";
import type { Context } from "#api/context.ts";
import { notice } from "./frame.ts";
import { html, type Html, type Part } from "./html.ts";
import { instant } from "./parts.ts";

/** What has just been decided, as the log has it: an address cannot make the desk say anything else. */
export async function decisionNotice(
  context: Pick<Context, "store">,
  review: string | null,
): Promise<Part> {
  if (review === null) return null;
  const decision = await lastDecision(context, review);
  return decision === null ? null : notice("good", decisionSentence(decision));
}

/** "prose-12 was approved by ada, 2026-…: …" */
export const decisionSentence = ({
  subject,
  action,
  operator,
  happened_at,
  detail,
}: AuditEntry): Html => {
  const reason =
    typeof detail["reason"] === "string" && detail["reason"] !== "" ? detail["reason"] : null;
  const done = action.replace(/^(?:review|pick)\./, "").replaceAll(".", " ");
  return html`<bdi>${subject}</bdi> was ${done} by <bdi>${operator}</bdi>,
    ${instant(happened_at)}${reason === null ? "." : html`: <bdi dir="auto">${reason}</bdi>`}`;
};
