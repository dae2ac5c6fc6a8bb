import bs58 from "bs58";
import type { WalletChallenge } from "#content/contract/onboarding.ts";

/** A wallet that an extension put into the page, as Phantom and those like it do. */
type InjectedWallet = {
  connect(): Promise<{ publicKey: { toString(): string } }>;
  signMessage(message: Uint8Array): Promise<{ signature: Uint8Array }>;
};

type Fields = Record<"wallet" | "signature", HTMLInputElement | HTMLTextAreaElement>;
type Sent = { wallet_challenge?: string };

/** Fetches the text to sign when asked to. Answers what belongs to a request beside the fields. */
export function offerProof({ wallet, signature }: Fields): () => Sent {
  let challenge: WalletChallenge | null = null;
  const note = partOf("#onboard-wallet-note");
  const ask = async () => {
    note.textContent = "";
    const query = new URLSearchParams({ wallet: wallet.value.trim() });
    const response = await fetch(`/api/onboard/challenge?${query.toString()}`);
    const answer = (await response.json()) as WalletChallenge & { detail?: string };
    challenge = response.ok ? answer : null;
    partOf("#onboard-challenge").textContent = challenge?.challenge ?? "";
    partOf("#onboard-proof").hidden = challenge === null;
    partOf("#onboard-sign").hidden = challenge === null || injected() === null;
    if (!response.ok) note.textContent = answer.detail ?? "This wallet cannot be proven.";
  };
  const sign = async () => {
    const provider = injected();
    if (provider === null || challenge === null) return;
    const { publicKey } = await provider.connect();
    if (publicKey.toString() !== challenge.wallet) {
      note.textContent = `The wallet of this browser is ${publicKey.toString()}.`;
      return;
    }
    const signed = await provider.signMessage(new TextEncoder().encode(challenge.challenge));
    signature.value = bs58.encode(signed.signature);
    note.textContent = "Signed.";
  };
  const quietly = (work: () => Promise<void>) => () => {
    work().catch(() => {
      note.textContent = "That did not work. Please try again.";
    });
  };
  partOf("#onboard-prove").hidden = false;
  partOf("#onboard-prove").addEventListener("click", quietly(ask));
  partOf("#onboard-sign").addEventListener("click", quietly(sign));
  // A proof is of one wallet.
  wallet.addEventListener("input", () => {
    challenge = null;
    signature.value = "";
    partOf("#onboard-proof").hidden = true;
  });
  return () =>
    challenge === null || signature.value.trim() === ""
      ? {}
      : { wallet_challenge: challenge.challenge };
}

function injected(): InjectedWallet | null {
  const found = (globalThis as { solana?: Partial<InjectedWallet> }).solana;
  const signs = typeof found?.signMessage === "function" && typeof found.connect === "function";
  return signs ? (found as InjectedWallet) : null;
}

function partOf(selector: string): HTMLElement {
  const part = document.querySelector<HTMLElement>(selector);
  if (part === null) throw new Error(`the page has no ${selector}`);
  return part;
}
