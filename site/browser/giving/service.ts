import type {
  DonationStatus,
  PaymentQuote,
  PendingDonation,
  Settlement,
} from "#content/contract/donation.ts";

/** `code` is the API's: the page has the words for it. */
type Refusal = { kind: "refused"; code: string } | { kind: "away"; retryAfterS: number };

/** How to pay. */
type Offer = { kind: "requirements"; requirements: PaymentQuote } | Refusal;

/** The outcome of a payment. */
export type Outcome =
  | { kind: "received"; settlement: Settlement }
  | { kind: "pending"; retryAfterS: number }
  | Refusal;

export type GivingService = ReturnType<typeof openGivingService>;

/** A directory's service for one nonprofit. `origin` is "" on the pages of the service itself. Nothing here throws. */
export function openGivingService(origin: string, slug: string) {
  const path = `${origin}/api/donate/${encodeURIComponent(slug)}`;
  const donate = (amount: string) => `${path}?${new URLSearchParams({ amount })}`;
  return {
    /** With the address of a donor's wallet, the answer has the transfer for it to sign. */
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
    /** Hands in the signature of a transfer that carried no memo of ours. */
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

/** Null when no one answered in time, or not in our words. */
async function send(url: string, options: RequestInit = {}): Promise<Answer | null> {
  try {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(timeoutMs) });
    const retryAfterS = Number(answer.headers.get("retry-after")) || retryAfterDefaultS;
    return { status: answer.status, retryAfterS, body: await answer.json() };
  } catch {
    return null;
  }
}

/** Anyone who is busy now may answer later; anyone who refuses says by a code why. */
function refusal(answer: Answer | null): Refusal {
  if (answer === null || answer.status === 429 || answer.status >= 500) {
    return { kind: "away", retryAfterS: answer?.retryAfterS ?? retryAfterDefaultS };
  }
  return { kind: "refused", code: (answer.body as { code?: string }).code ?? "" };
}

const firstWaitMs = 2_000;
const slowerBy = 1.25;
const longestWaitMs = 15_000;
/** About 90 looks: 20 minutes of a page that is looked at. */
const looksMax = 90;

/**
 * Looks until a payment is found or refused, less and less often, and not while no one sees the page; anyone who comes
 * back from their wallet is answered at once. Null when it has looked for long enough, or was stopped.
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

/** No one has paid before they have seen what to pay. */
export const readingTime = (signal: AbortSignal): Promise<void> => rest(firstWaitMs, signal);

/** Ends after the time, as soon as the page is seen again, or when it is stopped; never while no one sees the page. */
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
