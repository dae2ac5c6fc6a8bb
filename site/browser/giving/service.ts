import type {
  DonationStatus,
  PaymentRequirements,
  PendingDonation,
  Settlement,
} from "#content/contract/donation.ts";

/** What the service says to somebody who wants to pay. Nothing here throws. */
export type Queryable =
  | { kind: "requirements"; requirements: PaymentRequirements }
  /** `words` are for people. */
  | { kind: "refused"; words: string }
  | { kind: "away"; retryAfterS: number };

/** The outcome of a payment. */
export type Told =
  | { kind: "received"; settlement: Settlement }
  | { kind: "pending"; retryAfterS: number }
  | { kind: "refused"; words: string }
  | { kind: "away"; retryAfterS: number };

/** A directory's service for one nonprofit. `origin` is "" on the directory's own pages. */
export type GivingService = {
  ask(amount: string): Promise<Queryable>;
  /** Whether a transfer with this memo was found. */
  statusOf(memo: string): Promise<Told>;
  /** Hands in the signature of a transfer that carried no memo of ours. */
  tell(amount: string, txSignature: string): Promise<Told>;
};

export function openGivingService(origin: string, slug: string): GivingService {
  const path = `${origin}/api/donate/${encodeURIComponent(slug)}`;
  const ask = (amount: string) => `${path}?${new URLSearchParams({ amount })}`;
  return {
    ask: async (amount) => {
      const answer = await get(ask(amount));
      // 402 is the answer that was hoped for: nothing was paid yet.
      if (answer?.status !== 402) return refusal(answer);
      return { kind: "requirements", requirements: answer.body as PaymentRequirements };
    },
    statusOf: async (memo) => {
      const answer = await get(`${path}/status?${new URLSearchParams({ memo })}`);
      if (answer?.status !== 200) return refusal(answer);
      const { settlement, retry_after_s } = answer.body as DonationStatus;
      return settlement === null
        ? { kind: "pending", retryAfterS: retry_after_s }
        : { kind: "received", settlement };
    },
    tell: async (amount, txSignature) => {
      const answer = await get(ask(amount), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ tx_signature: txSignature }),
      });
      if (answer?.status === 202) {
        const { retry_after_s } = answer.body as PendingDonation;
        return { kind: "pending", retryAfterS: retry_after_s };
      }
      if (answer?.status !== 200) return refusal(answer);
      return { kind: "received", settlement: answer.body as Settlement };
    },
  };
}

type Answer = { status: number; retryAfterS: number; body: unknown };

const patienceMs = 15_000;
const retryAfterDefaultS = 5;

/** Null when no one answered in time, or not in our words. */
async function get(url: string, options: RequestInit = {}): Promise<Answer | null> {
  try {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(patienceMs) });
    const retryAfterS = Number(answer.headers.get("retry-after")) || retryAfterDefaultS;
    return { status: answer.status, retryAfterS, body: await answer.json() };
  } catch {
    return null;
  }
}

/** Anyone who is busy now may answer later; anyone who refuses has said why. */
function refusal(
  answer: Answer | null,
): { kind: "refused"; words: string } | { kind: "away"; retryAfterS: number } {
  if (answer === null || answer.status === 429 || answer.status >= 500) {
    return { kind: "away", retryAfterS: answer?.retryAfterS ?? retryAfterDefaultS };
  }
  const { detail, error } = answer.body as { detail?: string; error?: string };
  return { kind: "refused", words: detail ?? error ?? `The directory answered ${answer.status}.` };
}
