import type { ProofRefusal } from "./payment-checks.ts";

export type Step = {
  /** Where the intent stands then. Refused or lapsed, it waits again once it is named again; settled, it stays so. */
  next: "waiting" | "settled" | "refused" | "lapsed";
  /** What a request for it answers. Only "pay_again" may ask for another payment: by this one no money moves. */
  answer: string;
  /** What never landed cost the sponsor nothing; what failed on chain did. */
  neverLanded?: true;
};

/**
 * What becomes of an intent that waits, a payment, a proof or a watch, by what is seen of it. A request and the sweep take
 * the same steps. Of an intent that was refused or has lapsed, the store has what was seen as its outcome.
 */
export const steps = {
  // The chain shows a gift, or what may yet be one.
  gift: { next: "settled", answer: "recorded" },
  not_confirmed: { next: "waiting", answer: "pending" },
  age_unknown: { next: "waiting", answer: "chain_unclear" },
  // The chain shows what is no gift to this nonprofit: money has moved, or was lost on the way.
  failed_on_chain: { next: "refused", answer: "refused" },
  wrong_token: { next: "refused", answer: "refused" },
  wrong_recipient: { next: "refused", answer: "refused" },
  foreign_memo: { next: "refused", answer: "refused" },
  self_donation: { next: "refused", answer: "refused" },
  too_old: { next: "refused", answer: "refused" },
  underpaid: { next: "refused", answer: "refused" },
  recorded_elsewhere: { next: "refused", answer: "refused" },
  // The chain shows nothing.
  chain_unclear: { next: "waiting", answer: "chain_unclear" },
  absent: { next: "waiting", answer: "pending" },
  payment_fails: { next: "refused", answer: "pay_again", neverLanded: true },
  lapsed: { next: "lapsed", answer: "signature_not_found", neverLanded: true },
  // No one looks at the chain any more.
  nonprofit_gone: { next: "refused", answer: "nonprofit_not_found" },
} as const satisfies Record<ProofRefusal["kind"], Step> & Record<string, Step>;

/** What is seen of an intent. */
type Sighting = keyof typeof steps;

/** The sightings after which it stands so. */
type Before<Next extends Step["next"]> = {
  [S in Sighting]: (typeof steps)[S]["next"] extends Next ? S : never;
}[Sighting];

/** What is seen of an intent that has ended. */
export type Ending = Before<"settled" | "refused" | "lapsed">;

/** What is seen of a transaction that may yet be a gift. */
export type Doubt = Before<"waiting">;

/** What is seen of a transaction that is none. */
export type Refusal = Exclude<Before<"refused">, "payment_fails" | "nonprofit_gone">;

export const isRefusal = (sighting: Refusal | Doubt): sighting is Refusal =>
  steps[sighting].next === "refused";

/** Nodes lag, and lose their history: this many clear answers must say that a transaction is not there. */
export const unknownsNeeded = 8;

/** What is known of an intent whose transaction the chain clearly does not show. */
export type Absence = {
  /** Milliseconds since it first came. */
  ageMs: number;
  /** Clear answers of the kind before this one, since it could have been there. */
  unknown: number;
  /** Whether a node says that its payment can still land. */
  canLand: boolean;
};

const isDoubtful = ({ unknown }: Absence) => unknown < unknownsNeeded;

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
