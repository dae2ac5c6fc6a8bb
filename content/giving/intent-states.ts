import { unknownSignature } from "#content/contract/donation.ts";
import type { ProofRefusal } from "./payment-checks.ts";

export type Step = {
  /**
   * State of the intent afterwards. A refused or lapsed one waits again when someone sends it again; a settled one changes
   * only when its gift is voided.
   */
  next: "waiting" | "settled" | "refused" | "lapsed";
  /** What never landed cost the sponsor nothing; what failed on chain did. */
  neverLanded?: true;
};

/**
 * Where an intent, a payment, a proof or a watch, stands after what a request or the sweep saw of it. Of one that was
 * refused or has lapsed, the store has what was seen as its outcome. What a request answers is decided in payment.ts and
 * proof.ts.
 */
export const steps = {
  // The chain shows a gift, or what may yet be one.
  gift: { next: "settled" },
  not_confirmed: { next: "waiting" },
  age_unknown: { next: "waiting" },
  // The chain shows what is no gift to this nonprofit: money has moved, or was lost on the way.
  failed_on_chain: { next: "refused" },
  wrong_token: { next: "refused" },
  wrong_recipient: { next: "refused" },
  foreign_memo: { next: "refused" },
  self_donation: { next: "refused" },
  too_old: { next: "refused" },
  underpaid: { next: "refused" },
  recorded_elsewhere: { next: "refused" },
  // The chain shows nothing.
  chain_unclear: { next: "waiting" },
  absent: { next: "waiting" },
  payment_fails: { next: "refused", neverLanded: true },
  lapsed: { next: "lapsed", neverLanded: true },
  // The chain holds the gift that was recorded no more.
  voided: { next: "lapsed" },
  // No one looks at the chain any more.
  nonprofit_gone: { next: "refused" },
} as const satisfies Record<ProofRefusal["kind"], Step> & Record<string, Step>;

/** What is seen of an intent. */
type Sighting = keyof typeof steps;

/** The sightings after which it stands so. */
type SightingsTo<Next extends Step["next"]> = {
  [S in Sighting]: (typeof steps)[S]["next"] extends Next ? S : never;
}[Sighting];

/** What is seen of an intent that has ended. */
export type Ending = SightingsTo<"settled" | "refused" | "lapsed">;

/** What is seen of a transaction that may yet be a gift. */
export type Doubt = SightingsTo<"waiting">;

/** What is seen of a transaction that is none. */
export type Refusal = Exclude<SightingsTo<"refused">, "payment_fails" | "nonprofit_gone">;

export const isRefusal = (sighting: Refusal | Doubt): sighting is Refusal =>
  steps[sighting].next === "refused";

/** Nodes lag, and lose their history: this many clear answers must say that a transaction is not there. */
const unknownsNeeded = 8;

/** What is known of an intent whose transaction the chain clearly does not show. */
export type Absence = {
  /** Milliseconds since it first came. */
  ageMs: number;
  /** How many times the chain has clearly said 'not there', counted from when it should have been there. */
  unknown: number;
  /** Whether a node says that its payment can still land. */
  canLand: boolean;
};

const isDoubtful = ({ unknown }: Pick<Absence, "unknown">) => unknown < unknownsNeeded;

/**
 * Whether a client is told that its signature cannot land any more. That takes time and eight clear answers, because one
 * node may be behind.
 */
export const isLost = (absence: Pick<Absence, "ageMs" | "unknown">): boolean =>
  absence.ageMs >= unknownSignature.waitMs && !isDoubtful(absence);

/**
 * What the sweep does about what is absent: the first that holds; when none does, the intent lapses. A blockhash is good for
 * about 90 s, and a node that lags may say otherwise of one just made. A named signature is followed for a quarter of an
 * hour, because nodes can be behind. Its answers are counted from the first look, so that the eighth comes before the wait of
 * who asks for it ends; those on a payment or a watch only once it should have landed.
 */
const absences = {
  payment: {
    resend: ({ ageMs, canLand }: Absence) => ageMs < 90_000 || canLand,
    count: isDoubtful,
  },
  proof: { count: isDoubtful, wait: ({ ageMs }: Absence) => ageMs < 15 * 60_000 },
  watch: { wait: ({ ageMs }: Absence) => ageMs < 2 * 3_600_000, count: isDoubtful },
} as const;

export type Action = "resend" | "count" | "wait" | "lapse";

export const actionOn = (kind: keyof typeof absences, absence: Absence): Action => {
  const rules = Object.entries(absences[kind]);
  return (rules.find(([, holds]) => holds(absence))?.[0] ?? "lapse") as Action;
};
