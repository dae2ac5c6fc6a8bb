import type { DonationNetwork } from "#content/contract/network.ts";

/** What pages depend on beside the store and the code. */
export type BuildInputs = {
  /** Origin in absolute URLs, without a trailing slash. */
  readonly baseUrl: string;
  /** Pages that show a wallet say plainly when no real money moves there. */
  readonly network: DonationNetwork;
};
