import type { ProfileView } from "./profile-view.ts";
import { metaText } from "./words.ts";

/** The page /donate/{slug} of a nonprofit with a wallet. */
export type DonateView = {
  path: string;
  title: string;
  description: string;
  place: string;
  giving: ProfileView["giving"];
  wallet: NonNullable<ProfileView["giving"]["wallet"]>;
};

/** What the page says, or null for a nonprofit without a wallet: its profile then names other ways to give. */
export function donateView({ name, place, giving }: ProfileView): DonateView | null {
  const { wallet, slug } = giving;
  if (wallet === null) return null;
  return {
    path: `/donate/${slug}`,
    title: `${metaText(`Give to ${name}`, 90)} · Almoner`,
    description: metaText(`Give USDC on Solana straight to the wallet of ${name}.`, 200),
    place,
    giving,
    wallet,
  };
}
