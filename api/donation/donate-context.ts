import type { Chain } from "#api/chain/chain.ts";
import type { MemoSeal } from "#content/donation/memo.ts";
import type { Clock } from "#content/contract/time.ts";
import type { Commitment, MicroUsdc } from "#content/contract/transfer.ts";
import type { DonateTarget } from "#content/donation/target.ts";
import type { Store } from "#content/store/open.ts";

/** What the verbs of donating work with; the service fills it from its own context. */
export type DonateContext = {
  store: Store;
  clock: Clock;
  chain: Chain;
  /** The nonprofit with this slug as it is now, withdrawn ones too; null when there is none. */
  targetOf: (slug: string) => Promise<DonateTarget | null>;
  seal: MemoSeal;
  /** CAIP-2 id under which the chain is offered to x402 clients of version 2: one that they know. See decision 0053. */
  offeredNetwork: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /** From here on a landed transfer counts. */
  commitment: Commitment;
  /** How old a transfer that does not carry our memo may be. */
  windowMs: number;
  /** The sponsor pays fees for donations from this amount on. */
  sponsoredMin: MicroUsdc;
  /** Writes 32 bytes as an account's address. */
  addressOf: (bytes: Uint8Array) => string;
  /** Waits; tests let it pass quickly. */
  pause: (ms: number) => Promise<void>;
};
