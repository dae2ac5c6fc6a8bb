import { logOperator } from "#content/operation/audit-store.ts";
import { writeAll } from "#content/operation/plan.ts";
import { pendingFields, submissions } from "#content/store/tables/enrichment.ts";
import { curatedPicks, recommendationDrafts } from "#content/store/tables/recommendations.ts";
import { randomBytes } from "node:crypto";
import type { OnboardingRequest } from "#content/onboarding/read.ts";
import type { Duplicate } from "#content/contract/onboarding.ts";
import { onboardingStore } from "#content/onboarding/store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { holdWallet } from "#content/onboarding/wallet-hold-store.ts";
import { aDirectory } from "./discovery.ts";
import { aNonprofit } from "./records.ts";
import type { TestService } from "./service.ts";

export const deskToken = "a-token-of-ada-0123456789";

/** The service on a socket of this machine, as a browser meets it. */
export async function aServedDesk() {
  const env = { ALMONER_ADMIN_TOKENS: `ada:${deskToken}` };
  const context = { clock: () => new Date() };
  const { url, ...served } = await aDirectory({ env, context, hasFiles: false });
  return { ...served, origin: url };
}
type Planted = {
  slug: string;
  /** Reviews of its prose, of its contested value and of its draft, and what is asked for it. */
  ids: Record<"values" | "contested" | "draft" | "requests", string[]>;
};

/**
 * A nonprofit whose every text is the given one, with everything that can wait for it and be said of it at the desk in
 * the same words: what validation would refuse today may have come in before, or otherwise.
 */
export async function plantAtDesk({ store }: TestService, text: string): Promise<Planted> {
  const at = Date.now();
  const from = { set_by: "consensus" as const, source: text, source_url: text, agents: [text] };
  const after = aNonprofit({
    name: text,
    tagline: text,
    mission: null,
    city: text,
    region: null,
    provenance: { city: { ...from, applied_at: at } },
  });
  const id = randomBytes(10).toString("hex");
  return store.write(async (tx) => {
    const context = { origin: "test", now: new Date(at) };
    const [saved] = await saveNonprofits(tx, [{ before: null, after }], context);
    if (saved === undefined) throw new Error("nothing was saved");
    const nonprofit_id = saved.id;
    const agent = { agent_id: text, agent_name: text, source_url: text };
    const waiting = { ...agent, nonprofit_id, status: "pending" as const, created_at: at };
    const value = (said: string) => ({ value: said, normalised_value: said });
    const prose = { ...waiting, field_type: "prose" as const };
    const structured = { ...waiting, field_type: "structured" as const };
    const programme = JSON.stringify({ name: text, description: text });
    const rows = await tx.db
      .insert(submissions)
      .values([
        { ...prose, field: "mission", ...value(text) },
        { ...prose, field: "programme", ...value(programme) },
        { ...structured, field: "region", ...value(text) },
        { ...structured, field: "region", ...value(`${text} `), agent_id: `${text}2` },
        { ...structured, field: "city", ...value(`${text}!`), audit_only: 1, confidence: 2 },
      ])
      .returning({ id: submissions.id });
    const pending = { nonprofit_id, field: "region" as const, pending: 2, list_order: 0 };
    await tx.db
      .insert(pendingFields)
      .values(pending)
      .onConflictDoUpdate({
        target: [pendingFields.nonprofit_id, pendingFields.field],
        set: { pending: 2 },
      });
    const said = { why_recommended: text, recommended_for: [text, `${text} 2`] };
    const drafts = await tx.db
      .insert(recommendationDrafts)
      .values({ ...waiting, ...said, normalised: text, phase: 3 })
      .returning({ id: recommendationDrafts.id });
    const pick = { ...said, nonprofit_id, origin: "operator" as const, added_by: text };
    await tx.db.insert(curatedPicks).values({ ...pick, updated_at: at });
    const detail = { value: text, [text]: { [text]: [text] } };
    await logOperator(tx, { operator: text, action: text, subject: text, detail, at });
    await writeAll(tx, onboardingSaying(text, { id, nonprofit_id, at }));
    const [mission, programmes] = rows;
    return {
      slug: saved.slug,
      ids: {
        values: [`prose-${mission?.id}`, `prose-${programmes?.id}`, `revert-${nonprofit_id}-city`],
        contested: [`contested-${nonprofit_id}-region`],
        draft: drafts.map((draft) => `draft-${draft.id}`),
        requests: [`onboarding-${id}`, `hold-${id}`],
      },
    };
  });
}

/** A claim, and a held wallet, whose every text is the given one. */
function onboardingSaying(text: string, of: { id: string; nonprofit_id: number; at: number }) {
  const { id, nonprofit_id, at } = of;
  const signed = { wallet_challenge: text, wallet_signature: text };
  const request: OnboardingRequest = {
    claim_slug: text,
    name: text,
    contact_email: text,
    contact_name: text,
    mission: text,
    usdc_wallet: text,
    website: text,
    country_code: "KE",
    city: text,
    tagline: text,
    donation_url: text,
    logo_url: text,
    programs: text,
    registration_number: text,
    corrects: [],
  };
  const duplicate: Duplicate = {
    slug: text,
    name: text,
    city: text,
    status: "listed",
    reasons: ["near_name"],
    name_similarity: 1,
  };
  const sent = onboardingStore.add({
    id,
    type: "claim",
    nonprofit_id,
    request,
    duplicates: [duplicate],
    ...signed,
    network: null,
    created_at: at,
    request_digest: id,
    status_digest: id,
  });
  const hold = holdWallet(text, {
    submission_id: id,
    nonprofit_id,
    wallet_before: text,
    wallet: text,
    ...signed,
    approved_by: text,
    approved_at: at,
    effective_at: at + 3_600_000,
  });
  return [sent, ...hold];
}
