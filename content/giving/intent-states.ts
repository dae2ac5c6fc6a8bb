import { unknownSignature } from "#content/contract/donation.ts";
import type { ProofRefusal } from "./payment-checks.ts";

export type Step = {
  /**
   * The next state of the intent. A refused or lapsed intent waits again when it is sent again; a settled one changes only
   * when its gift is voided.
   */
  next: "waiting" | "settled" | "refused" | "lapsed";
  /** The payment never landed, so it cost the sponsor nothing; a payment that failed on chain did. */
  neverLanded?: true;
};

/**
 * The state of an intent (payment, proof or watch) after each observation. For a refused or lapsed intent the observation is
 * stored as its `outcome`. payment.ts and proof.ts decide what a request answers.
 */
export const steps = {
  // The chain shows a gift, or a transaction that may become one.
  gift: { next: "settled" },
  not_confirmed: { next: "waiting" },
  age_unknown: { next: "waiting" },
  // The chain shows a transaction that is no gift to this nonprofit: money has moved, or was lost on the way.
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
  // The chain no longer holds the gift that was recorded.
  voided: { next: "lapsed" },
  // Nothing more is looked up on the chain.
  nonprofit_gone: { next: "refused" },
} as const satisfies Record<ProofRefusal["kind"], Step> & Record<string, Step>;

type Sighting = keyof typeof steps;

/** The observations that lead to this state. */
type SightingsTo<Next extends Step["next"]> = {
  [S in Sighting]: (typeof steps)[S]["next"] extends Next ? S : never;
}[Sighting];

export type Ending = SightingsTo<"settled" | "refused" | "lapsed">;

/** The observations of a transaction that may yet be a gift. */
export type Doubt = SightingsTo<"waiting">;

/** The observations of a transaction that is not a gift. */
export type Refusal = Exclude<SightingsTo<"refused">, "payment_fails" | "nonprofit_gone">;

export const isRefusal = (sighting: Refusal | Doubt): sighting is Refusal =>
  steps[sighting].next === "refused";

/** Nodes lag and lose history, so this many clear answers must say that a transaction is absent. */
const unknownsNeeded = 8;

/** What is known about an intent whose transaction the chain clearly does not show. */
export type Absence = {
  /** Milliseconds since the intent was first handed in. */
  ageMs: number;
  /** How many times the chain has clearly answered that it does not know it, counted from when it should have landed. */
  unknown: number;
  /** Whether a node says that the payment can still land. */
  canLand: boolean;
};

const isDoubtful = ({ unknown }: Pick<Absence, "unknown">) => unknown < unknownsNeeded;

/**
 * Whether to tell a client that its signature can no longer land. That takes time and eight clear answers, because one node
 * may be behind.
 */
export const isLost = (absence: Pick<Absence, "ageMs" | "unknown">): boolean =>
  absence.ageMs >= unknownSignature.waitMs && !isDoubtful(absence);

/**
 * What the sweep does about an absent transaction: the first rule that holds, in the order of the keys; if none holds, the
 * intent lapses. A blockhash is valid for about 90 s, and a lagging node may deny one that was just made. A named signature
 * is followed for 15 minutes, because nodes can be behind. Answers about it count from the first look, so that eight of them
 * fit into the time a client waits. Answers about a payment or watch count only once it should have landed.
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
