import { writeAll } from "#content/operation/plan.ts";
import { randomBytes } from "node:crypto";
import { listen } from "#api/http/listen.ts";
import type { OnboardingRequest } from "#content/onboarding/read.ts";
import type { Duplicate } from "#content/contract/onboarding.ts";
import { onboardingStore } from "#content/onboarding/store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { holdWallet } from "#content/onboarding/wallet-hold-store.ts";
import { freePort } from "./processes.ts";
import { aNonprofit } from "./records.ts";
import { aService, type TestService } from "./service.ts";

export const deskToken = "a-token-of-ada-0123456789";

export type ServedDesk = { service: TestService; origin: string; close(): Promise<void> };

/** The service on a socket of this machine, as a browser meets it. */
export async function aServedDesk(env: Record<string, string> = {}): Promise<ServedDesk> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const service = await aService({
    env: { ALMONER_ADMIN_TOKENS: `ada:${deskToken}`, ALMONER_BASE_URL: origin, ...env },
    context: { clock: () => new Date() },
  });
  const listening = listen(service.app, { host: "127.0.0.1", port, baseUrl: origin });
  return {
    service,
    origin,
    close: async () => {
      await listening.stop({ graceMs: 100 });
      service.close();
    },
  };
}

/** Stores a submission as it is: what validation would refuse today may have come in before, or otherwise. */
export async function plant(
  { store }: Pick<TestService, "store">,
  row: {
    field: string;
    value: string;
    agent: string;
    source_url: string | null;
    audit_only?: 0 | 1;
    confidence?: number;
    nonprofit_id: number;
    field_type: "prose" | "structured";
  },
): Promise<void> {
  const {
    nonprofit_id,
    field,
    field_type,
    value,
    agent,
    source_url,
    audit_only = 0,
    confidence = 1,
  } = row;
  await store.write((tx) =>
    tx.raw.execute({
      sql: `INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, source_url, agent_id, agent_name,
              status, audit_only, confidence, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)`,
      args: [
        nonprofit_id,
        field,
        field_type,
        value,
        value,
        source_url,
        agent,
        agent,
        audit_only,
        confidence,
        Date.now(),
      ],
    }),
  );
}

/** A nonprofit whose every text is the given one. */
export async function plantNonprofit(
  { store }: Pick<TestService, "store">,
  text: string,
): Promise<number> {
  const record = aNonprofit({ name: text, tagline: text, mission: null, city: text, region: null });
  const provenance = {
    city: {
      set_by: "consensus" as const,
      source: text,
      source_url: text,
      agents: [text],
      applied_at: Date.now(),
    },
  };
  const [saved] = await store.write((tx) =>
    saveNonprofits(tx, [{ before: null, after: { ...record, provenance } }], {
      origin: "test",
      now: new Date(),
    }),
  );
  if (saved === undefined) throw new Error("nothing was saved");
  return saved.id;
}

/** A claim, and a held wallet, whose every text is the given one. Answers the id of both. */
export async function plantOnboarding(
  { store }: Pick<TestService, "store">,
  nonprofit_id: number,
  text: string,
): Promise<string> {
  const id = randomBytes(10).toString("hex");
  const request: OnboardingRequest = {
    claim_slug: text,
    name: text,
    contact_email: text,
    contact_name: text,
    usdc_wallet: text,
    mission: text,
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
  await store.write(async (tx) => {
    const sent = onboardingStore.add({
      id,
      type: "claim",
      nonprofit_id,
      request,
      duplicates: [duplicate],
      wallet_challenge: text,
      wallet_signature: text,
      network: null,
      created_at: Date.now(),
      request_digest: id,
      status_digest: id,
    });
    const hold = holdWallet(text, {
      submission_id: id,
      nonprofit_id,
      wallet_before: text,
      wallet: text,
      wallet_challenge: text,
      wallet_signature: text,
      approved_by: text,
      approved_at: Date.now(),
      effective_at: Date.now() + 3_600_000,
    });
    await writeAll(tx, [sent, ...hold]);
  });
  return id;
}
