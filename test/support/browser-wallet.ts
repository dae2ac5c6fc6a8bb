import type { Page } from "playwright-core";

/** Runs in the page. Where the stock library is loaded, that registers the wallet. */
const register = (address: string) => {
  type Signing = (base64: string) => Promise<number[]>;
  type Api = { register(...wallets: object[]): void };
  const page = globalThis as unknown as {
    walletSignature: Signing;
    registerWallet?(wallet: object): void;
  };
  const signatureOf = async (bytes: Uint8Array) => {
    const signature = await page.walletSignature(btoa(String.fromCharCode(...bytes)));
    return [{ signature: Uint8Array.from(signature) }];
  };
  const chains = ["solana:localnet", "solana:mainnet"];
  const account = { address, publicKey: new Uint8Array(32), chains, features: [] };
  const wallet = {
    version: "1.0.0",
    name: "Test Wallet",
    chains,
    accounts: [],
    features: {
      "standard:connect": { connect: () => Promise.resolve({ accounts: [account] }) },
      "solana:signMessage": {
        signMessage: ({ message }: { message: Uint8Array }) => signatureOf(message),
      },
      "solana:signAndSendTransaction": {
        signAndSendTransaction: ({ transaction }: { transaction: Uint8Array }) =>
          signatureOf(transaction),
      },
    },
  };
  if (page.registerWallet !== undefined) return page.registerWallet(wallet);
  const detail = (api: Api) => api.register(wallet);
  dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail }));
  addEventListener("wallet-standard:app-ready", (event) =>
    detail((event as CustomEvent<Api>).detail),
  );
};

/**
 * Gives a page an extension that registers itself as the Wallet Standard has it, before or after the page listens.
 * `signatureOf` signs a message, or signs and sends a transaction.
 */
export async function addBrowserWallet(
  page: Page,
  address: string,
  signatureOf: (bytes: Buffer) => Uint8Array,
): Promise<void> {
  const sign = (base64: string) => [...signatureOf(Buffer.from(base64, "base64"))];
  await page.exposeFunction("walletSignature", sign);
  await page.addInitScript(register, address);
}
