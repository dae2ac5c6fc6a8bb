import type { FunnelStep } from "#content/recommendation/follow-through-store.ts";

const nothing: FunnelStep = {
  calls: 0,
  answered: 0,
  profile: 0,
  donate: 0,
  donation: 0,
  given_micro_usdc: 0n,
};

/** Two groups of calls as one. */
export const sum = (one: FunnelStep = nothing, other: FunnelStep): FunnelStep => ({
  calls: one.calls + other.calls,
  answered: one.answered + other.answered,
  profile: one.profile + other.profile,
  donate: one.donate + other.donate,
  donation: one.donation + other.donation,
  given_micro_usdc: one.given_micro_usdc + other.given_micro_usdc,
});

export const totalOf = (rows: readonly FunnelStep[]): FunnelStep =>
  rows.reduce((all, row) => sum(all, row), nothing);
