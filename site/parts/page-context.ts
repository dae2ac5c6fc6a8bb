import type { DonationNetwork } from "#content/contract/transfer.ts";
import type { GivingLink } from "#content/nonprofit/ways-to-give.ts";
import type { PageLanguages, Texts } from "#content/language/texts.ts";

/** What pages depend on beside the store and the code. */
export type BuildInputs = {
  /** Origin in absolute URLs, without a trailing slash. */
  readonly baseUrl: string;
  /** Pages that show a wallet say plainly when no real money moves there. */
  readonly network: DonationNetwork;
  /** Whether the directory holds invented nonprofits, which every page then says; absent: it does not. */
  readonly isSample?: boolean;
  /** Services that take gifts for organisations; absent: none. */
  readonly givingLinks?: readonly GivingLink[];
  /** The language of what is made; absent: English. */
  readonly t?: Texts;
};

/** What every page and each of its parts finds in Astro.locals. */
export type PageContext = BuildInputs & PageLanguages;
