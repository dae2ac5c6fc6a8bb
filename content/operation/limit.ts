/** This many in this long. Hits are kept to `grainMs`, rounded to the later: a limit is never exceeded by rounding. */
export type Window = { policy: string; limit: number; windowMs: number; grainMs: number };

/** What is left of a window: `remaining` hits; the next comes free in `resetMs`. */
export type Allowance = Pick<Window, "policy" | "limit" | "windowMs"> & {
  allowed: boolean;
  remaining: number;
  resetMs: number;
};

/**
 * A window of a client. `clients` are all names under which the client may have been counted, at most two; new hits are
 * counted under the first.
 */
export type Counter = { window: Window; clients: readonly string[] };

/** `count` hits in each of these windows, or in none when one of them is full; where `always`, they count in any case. */
export type Hits = { counters: readonly Counter[]; count: number; always?: boolean };

/** Of what is left in several windows, that of the tightest. */
export const tightestOf = (left: readonly Allowance[]): Allowance =>
  left.reduce((one, other) => (other.remaining < one.remaining ? other : one));
