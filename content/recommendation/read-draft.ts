import { DraftBody } from "#content/contract/recommendation-draft.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { normaliseIntents } from "./donor-intents.ts";
import { checkPickText, type PickFault, type PickText } from "./pick-text.ts";
import { readAgent } from "#content/enrichment/read-agent.ts";
import { isTestData } from "#content/enrichment/test-data.ts";
import { checkSourceUrl } from "#content/enrichment/validity.ts";
import { sensitiveClaims } from "./wording.ts";

/** A draft as it is stored: checked and cleaned. */
export type DraftRequest = PickText & {
  slug: string;
  normalised: string;
  source_url: string;
  agent_id: string;
  agent_name: string;
  /** What it says of impact and effectiveness, each phrase once. */
  sensitive_claims: string[];
  test_data: boolean;
};

const faultsMax = 20;

/** Reads the body of POST /api/recommend/drafts; every fault is named by its path. */
export function readDraft(body: unknown): Result<DraftRequest, PickFault[]> {
  const parsed = DraftBody.safeParse(body);
  if (!parsed.success) {
    return fail(
      parsed.error.issues.slice(0, faultsMax).map(({ path, message, code }) => ({
        path: pathOf(path),
        message: required(path.at(-1), code) ?? message,
        claims: false,
      })),
    );
  }
  const { slug, source_url, agent_id, agent_name } = parsed.data;
  const { agent, wrongs } = readAgent({ agent_id, agent_name: agent_name?.trim() || null });
  const text = checkPickText(parsed.data, { byAgent: true });
  const source = checkSourceUrl(source_url);
  const faults: PickFault[] = [
    ...(text.ok ? [] : text.failure),
    ...(source.ok ? [] : [{ path: "source_url", message: source.failure.message, claims: false }]),
    ...wrongs.map((wrong) => ({ ...wrong, claims: false })),
  ];
  if (!text.ok || !source.ok || source.value === null || faults.length > 0) {
    return fail(faults.slice(0, faultsMax));
  }
  const { recommended_for, why_recommended } = text.value;
  const claims = [...recommended_for, why_recommended].flatMap(sensitiveClaims);
  return ok({
    slug,
    recommended_for,
    why_recommended,
    normalised: normaliseIntents(recommended_for),
    source_url: source.value,
    ...agent,
    sensitive_claims: [...new Set(claims.map(({ phrase }) => phrase.toLowerCase()))],
    test_data:
      isTestData({ field: "recommendation", value: why_recommended, ...agent }) ||
      isTestData({ field: "website", value: source.value, ...agent }),
  });
}

const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "")
    .slice(0, 100);

const needed: Readonly<Record<string, string>> = {
  slug: "slug is required: of the nonprofit to recommend.",
  recommended_for: "recommended_for is required: an array of 1 to 10 donor intents.",
  why_recommended: "why_recommended is required: one to three restrained sentences.",
  source_url: "source_url is required: the http(s) address of the evidence.",
  agent_id: "agent_id is required: a stable text that names your agent.",
};

const required = (name: PropertyKey | undefined, code: string): string | undefined =>
  code === "invalid_type" || code === "too_small" ? needed[String(name)] : undefined;
