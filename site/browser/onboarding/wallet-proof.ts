import bs58 from "bs58";
import type { WalletChallenge } from "#content/contract/onboarding.ts";
import { connect, offerWallets, type Wallet } from "#site/browser/wallets.ts";
import { part } from "#site/browser/dom.ts";
import { sayingOf } from "#site/browser/texts.ts";

const wallet = part("#field-usdc_wallet") as HTMLInputElement;
const signature = part("#field-wallet_signature") as HTMLInputElement;
const challenge = part("[name=wallet_challenge]") as HTMLInputElement;
const note = part("#wallet-note");
const say = sayingOf(part("#wallet-proof"));

/** Fetches the text to sign, which is sent with the form. */
async function ask(): Promise<void> {
  const query = new URLSearchParams({ wallet: wallet.value.trim() });
  const response = await fetch(`/api/onboard/challenge?${query.toString()}`);
  const answer = (await response.json()) as WalletChallenge & { detail?: string };
  challenge.value = response.ok ? answer.challenge : "";
  part("#wallet-challenge").textContent = challenge.value;
  part("#wallet-text").hidden = !response.ok;
  note.textContent = response.ok ? "" : say("cannot");
}

async function sign(by: Wallet): Promise<void> {
  const account = await connect(by);
  if (account.address !== wallet.value.trim()) {
    note.textContent = say("other", account);
    return;
  }
  const message = new TextEncoder().encode(challenge.value);
  const [signed] = await by.features["solana:signMessage"].signMessage({ account, message });
  signature.value = bs58.encode(signed?.signature ?? []);
  note.textContent = say("done");
}

const quietly = async (work: () => Promise<void>) => {
  note.textContent = "";
  await work().catch(() => {
    note.textContent = say("failed");
  });
};

part("#wallet-proof").hidden = false;
part("#wallet-ask").addEventListener("click", () => void quietly(ask));
offerWallets(
  part("#wallet-sign"),
  { feature: "solana:signMessage", chain: "solana:", label: (name) => say("sign", { name }) },
  (by) => quietly(() => sign(by)),
);
// A proof is valid for one wallet, so another address discards it.
wallet.addEventListener("input", () => {
  challenge.value = "";
  signature.value = "";
  part("#wallet-text").hidden = true;
});
