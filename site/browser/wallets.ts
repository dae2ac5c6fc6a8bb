import { el } from "./dom.ts";

/** An account that a wallet lets the page use. */
type Account = { address: string };
type Signatures = Promise<readonly { signature: Uint8Array }[]>;

/** The features of wallets that this site uses. Source: Wallet Standard, and its extensions for Solana. */
type Features = {
  "standard:connect": { connect(): Promise<{ accounts: readonly Account[] }> };
  "solana:signMessage": { signMessage(of: { account: Account; message: Uint8Array }): Signatures };
  "solana:signAndSendTransaction": {
    signAndSendTransaction(of: {
      account: Account;
      transaction: Uint8Array;
      chain: string;
    }): Signatures;
  };
};

/** A wallet in this browser, for example an extension, which chooses its own name. */
export type Wallet = { name: string; chains: readonly string[]; features: Features };

/** Adds a button to `place` for each wallet, present or later, that has this feature and chain, and shows `place`. */
export function offerWallets(
  place: HTMLElement,
  {
    feature,
    chain,
    label,
  }: { feature: keyof Features; chain: string; label: (name: string) => string },
  use: (wallet: Wallet) => Promise<void>,
): void {
  const add = (wallet: Wallet) => {
    const has = [feature, "standard:connect"].every((name) => name in wallet.features);
    if (!has || !wallet.chains.some((id) => id.startsWith(chain))) return;
    const button = el("button", { type: "button", class: "copy" }, [label(wallet.name)]);
    button.addEventListener("click", () => void use(wallet));
    place.append(button);
    place.hidden = false;
  };
  const api = { register: (...wallets: Wallet[]) => (wallets.forEach(add), () => {}) };
  addEventListener("wallet-standard:register-wallet", (event) =>
    (event as CustomEvent<(to: typeof api) => void>).detail(api),
  );
  dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
}

/** The account with which the user connects the wallet. Throws when there is none. */
export async function connect({ features }: Wallet): Promise<Account> {
  const { accounts } = await features["standard:connect"].connect();
  const [account] = accounts;
  if (account === undefined) throw new Error("the wallet shows no account");
  return account;
}
