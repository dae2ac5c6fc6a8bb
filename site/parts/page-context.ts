import type { DonationNetwork } from "#content/contract/transfer.ts";
import type { GivingPlace } from "#content/nonprofit/ways-to-give.ts";
import type { PageLanguages, Texts } from "#content/language/texts.ts";

/** What pages depend on beside the store and the code. */
export type BuildInputs = Readonly<GivingPlace> & {
  /** Pages that show a wallet say plainly when no real money moves there. */
  readonly network: DonationNetwork;
  /** Whether the directory holds invented nonprofits, which every page then says; absent: it does not. */
  readonly isSample?: boolean;
  /** The language of what is made; absent: English. */
  readonly t?: Texts;
};

/** What every page and each of its parts finds in Astro.locals. */
export type PageContext = BuildInputs & PageLanguages;
