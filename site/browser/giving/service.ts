import type {
  DonationStatus,
  PaymentQuote,
  PendingDonation,
  Settlement,
} from "#content/contract/donation.ts";

/** `code` is the API's code, for which the page has words. */
type Refusal = { kind: "refused"; code: string } | { kind: "away"; retryAfterS: number };

/** How to pay. */
type Offer = { kind: "requirements"; requirements: PaymentQuote } | Refusal;

/** The outcome of a payment. */
export type Outcome =
  | { kind: "received"; settlement: Settlement }
  | { kind: "pending"; retryAfterS: number }
  | Refusal;

export type GivingService = ReturnType<typeof openGivingService>;

/** A directory's service for one nonprofit. `origin` is "" on the service's own pages. No method throws. */
export function openGivingService(origin: string, slug: string) {
  const path = `${origin}/api/donate/${encodeURIComponent(slug)}`;
  const donate = (amount: string) => `${path}?${new URLSearchParams({ amount })}`;
  return {
    /** Asks how to pay. With the address of a donor's wallet (`payer`), the answer includes a transfer to sign. */
    ask: async (amount: string, payer?: string): Promise<Offer> => {
      const query = new URLSearchParams({ amount, ...(payer === undefined ? {} : { payer }) });
      const answer = await send(`${path}/quote?${query}`);
      if (answer?.status !== 200) return refusal(answer);
      return { kind: "requirements", requirements: answer.body as PaymentQuote };
    },
    /** Whether a transfer with this memo was found. */
    statusOf: async (memo: string): Promise<Outcome> => {
      const answer = await send(`${path}/status?${new URLSearchParams({ memo })}`);
      if (answer?.status !== 200) return refusal(answer);
      const { settlement, retry_after_s = retryAfterDefaultS } = answer.body as DonationStatus;
      return settlement === null
        ? { kind: "pending", retryAfterS: retry_after_s }
        : { kind: "received", settlement };
    },
    /** Submits the signature of a transfer that has no memo of ours. */
    prove: async (amount: string, tx_signature: string): Promise<Outcome> => {
      const answer = await send(donate(amount), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ tx_signature }),
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

const timeoutMs = 15_000;
const retryAfterDefaultS = 5;

/** Null when there is no answer in time, or one that is no JSON. */
async function send(url: string, options: RequestInit = {}): Promise<Answer | null> {
  try {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(timeoutMs) });
    const retryAfterS = Number(answer.headers.get("retry-after")) || retryAfterDefaultS;
    return { status: answer.status, retryAfterS, body: await answer.json() };
  } catch {
    return null;
  }
}

/** `away` when the service is unreachable or busy and may answer later; otherwise its refusal with a code. */
function refusal(answer: Answer | null): Refusal {
  if (answer === null || answer.status === 429 || answer.status >= 500) {
    return { kind: "away", retryAfterS: answer?.retryAfterS ?? retryAfterDefaultS };
  }
  return { kind: "refused", code: (answer.body as { code?: string }).code ?? "" };
}

const firstWaitMs = 2_000;
const slowerBy = 1.25;
const longestWaitMs = 15_000;
/** The most looks: about 20 minutes while the page is visible. */
const looksMax = 90;

/**
 * Looks until a payment is found or refused, at growing intervals, and not while the page is hidden; a donor who returns
 * from the wallet gets an answer at once. Null when it has looked often enough or was stopped.
 */
export async function watchFor(
  look: () => Promise<Outcome>,
  signal: AbortSignal,
): Promise<Extract<Outcome, { kind: "received" | "refused" }> | null> {
  let waitMs = firstWaitMs;
  for (let looks = 0; looks < looksMax && !signal.aborted; looks++) {
    const outcome = await look();
    if (signal.aborted) return null;
    if (outcome.kind === "received" || outcome.kind === "refused") return outcome;
    await rest(Math.max(waitMs, outcome.retryAfterS * 1_000), signal);
    waitMs = Math.min(waitMs * slowerBy, longestWaitMs);
  }
  return null;
}

/** Waits before the first look: no one has paid yet. */
export const readingTime = (signal: AbortSignal): Promise<void> => rest(firstWaitMs, signal);

/** Ends after the time, when the page becomes visible again, or when stopped; not by time while the page is hidden. */
function rest(waitMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ended = new AbortController();
  const seen = () => {
    if (!document.hidden) resolve();
  };
  setTimeout(seen, waitMs);
  document.addEventListener("visibilitychange", seen, { signal: ended.signal });
  signal.addEventListener("abort", () => resolve(), { signal: ended.signal });
  return promise.finally(() => ended.abort());
}
