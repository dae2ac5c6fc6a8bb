import bs58 from "bs58";
import type { WalletChallenge } from "#content/contract/onboarding.ts";
import { part } from "#site/browser/dom.ts";
import { sayingOf } from "#site/browser/texts.ts";

/** A wallet that an extension put into the page, as Phantom and those like it do. */
type InjectedWallet = {
  connect(): Promise<{ publicKey: { toString(): string } }>;
  signMessage(message: Uint8Array): Promise<{ signature: Uint8Array }>;
};

const wallet = part("#field-usdc_wallet") as HTMLInputElement;
const signature = part("#field-wallet_signature") as HTMLInputElement;
const challenge = part("[name=wallet_challenge]") as HTMLInputElement;
const note = part("#wallet-note");
const say = sayingOf(part("#wallet-proof"));

/** Fetches the text to sign. It goes with the form. */
async function ask(): Promise<void> {
  const query = new URLSearchParams({ wallet: wallet.value.trim() });
  const response = await fetch(`/api/onboard/challenge?${query.toString()}`);
  const answer = (await response.json()) as WalletChallenge & { detail?: string };
  challenge.value = response.ok ? answer.challenge : "";
  part("#wallet-challenge").textContent = challenge.value;
  part("#wallet-text").hidden = !response.ok;
  part("#wallet-sign").hidden = injected() === null;
  note.textContent = response.ok ? "" : say("cannot");
}

async function sign(): Promise<void> {
  const provider = injected();
  if (provider === null) return;
  const address = (await provider.connect()).publicKey.toString();
  if (address !== wallet.value.trim()) {
    note.textContent = say("other", { address });
    return;
  }
  const signed = await provider.signMessage(new TextEncoder().encode(challenge.value));
  signature.value = bs58.encode(signed.signature);
  note.textContent = say("done");
}

function injected(): InjectedWallet | null {
  const found = (globalThis as { solana?: Partial<InjectedWallet> }).solana;
  const signs = typeof found?.signMessage === "function" && typeof found.connect === "function";
  return signs ? (found as InjectedWallet) : null;
}

const quietly = (work: () => Promise<void>) => () => {
  note.textContent = "";
  work().catch(() => {
    note.textContent = say("failed");
  });
};

part("#wallet-proof").hidden = false;
part("#wallet-ask").addEventListener("click", quietly(ask));
part("#wallet-sign").addEventListener("click", quietly(sign));
// A proof is of one wallet.
wallet.addEventListener("input", () => {
  challenge.value = "";
  signature.value = "";
  part("#wallet-text").hidden = true;
});
