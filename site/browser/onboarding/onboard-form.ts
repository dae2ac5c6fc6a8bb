import bs58 from "bs58";
import type { OnboardingAnswer, WalletChallenge } from "#content/contract/onboarding.ts";
import { el, part } from "#site/browser/dom.ts";

const form = document.querySelector<HTMLFormElement>("#onboard");
if (form !== null) enhance(form);

type Problem = { detail?: string; errors?: { path: string; message: string }[] };

/** Sends the form as JSON, and shows what is wrong beside the fields. */
function enhance(whole: HTMLFormElement): void {
  // Faults are shown beside their fields, in the words of the directory.
  whole.noValidate = true;
  const claimed = new URLSearchParams(location.hash.slice(1)).get("claim");
  if (claimed !== null) fieldOf(whole, "claim_slug").value = claimed;
  const proof = offerProof({
    wallet: fieldOf(whole, "usdc_wallet"),
    signature: fieldOf(whole, "wallet_signature"),
  });
  const keyOf = openKeys();
  let sending = false;
  whole.addEventListener("submit", (event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    clear(whole);
    const body = JSON.stringify({ ...valuesOf(whole), ...proof() });
    send(whole, body, keyOf(body))
      .catch(() => complain("The directory does not answer. Please try again."))
      .finally(() => {
        sending = false;
      });
  });
}

/** The key of a request, the same for the same: anyone who sends it again after a lost answer still gets the link. */
function openKeys(): (body: string) => string {
  const keys = new Map<string, string>();
  return (body) => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const key = keys.get(body) ?? Array.from(bytes, (byte) => byte.toString(16)).join("-");
    keys.set(body, key);
    return key;
  };
}

async function send(whole: HTMLFormElement, body: string, key: string): Promise<void> {
  const response = await fetch("/api/onboard", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body,
  });
  const answer: unknown = await response.json();
  if (response.ok) thank(whole, answer as OnboardingAnswer);
  else refuse(whole, answer as Problem);
}

type Field = HTMLInputElement | HTMLTextAreaElement;

function fieldOf(whole: HTMLFormElement, name: string): Field {
  return whole.elements.namedItem(name) as Field;
}

/** What was typed. */
function valuesOf(whole: HTMLFormElement): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(whole)) {
    if (typeof value === "string" && value.trim() !== "") values[name] = value.trim();
  }
  return values;
}

function thank(whole: HTMLFormElement, { message, status_url }: OnboardingAnswer): void {
  const sent = part("#onboard-sent");
  sent.textContent = message;
  if (status_url !== null) {
    const link = el("a", { href: status_url }, [status_url]);
    sent.append(el("p", {}, ["Keep this link. It is shown only once: ", link]));
  }
  whole.hidden = true;
  sent.hidden = false;
  sent.focus();
}

/** Each fault stands beside its field; the first of them gets the focus. */
function refuse(whole: HTMLFormElement, { detail, errors = [] }: Problem): void {
  let first: Field | null = null;
  for (const { path, message } of errors) {
    const field = whole.elements.namedItem(path) as Field | null;
    if (field === null || path === "") continue;
    field.setAttribute("aria-invalid", "true");
    const place = document.getElementById(`${field.id}-wrong`);
    if (place !== null) place.textContent = message;
    first ??= field;
  }
  complain(
    first === null ? (detail ?? "It was not accepted.") : "Please correct the marked fields.",
  );
  (first ?? part("#onboard-wrong")).focus();
}

function complain(message: string): void {
  part("#onboard-wrong").textContent = message;
}

function clear(whole: HTMLFormElement): void {
  complain("");
  for (const place of whole.querySelectorAll(".wrong")) place.textContent = "";
  for (const field of whole.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
  }
}

/** A wallet that an extension put into the page, as Phantom and those like it do. */
type InjectedWallet = {
  connect(): Promise<{ publicKey: { toString(): string } }>;
  signMessage(message: Uint8Array): Promise<{ signature: Uint8Array }>;
};

/** Fetches the text to sign when asked to. Answers what belongs to a request beside the fields. */
function offerProof({ wallet, signature }: Record<"wallet" | "signature", Field>) {
  let challenge: WalletChallenge | null = null;
  const note = part("#onboard-wallet-note");
  const ask = async () => {
    note.textContent = "";
    const query = new URLSearchParams({ wallet: wallet.value.trim() });
    const response = await fetch(`/api/onboard/challenge?${query.toString()}`);
    const answer = (await response.json()) as WalletChallenge & { detail?: string };
    challenge = response.ok ? answer : null;
    part("#onboard-challenge").textContent = challenge?.challenge ?? "";
    part("#onboard-proof").hidden = challenge === null;
    part("#onboard-sign").hidden = challenge === null || injected() === null;
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
  part("#onboard-prove").hidden = false;
  part("#onboard-prove").addEventListener("click", quietly(ask));
  part("#onboard-sign").addEventListener("click", quietly(sign));
  // A proof is of one wallet.
  wallet.addEventListener("input", () => {
    challenge = null;
    signature.value = "";
    part("#onboard-proof").hidden = true;
  });
  return (): { wallet_challenge?: string } =>
    challenge === null || signature.value.trim() === ""
      ? {}
      : { wallet_challenge: challenge.challenge };
}

function injected(): InjectedWallet | null {
  const found = (globalThis as { solana?: Partial<InjectedWallet> }).solana;
  const signs = typeof found?.signMessage === "function" && typeof found.connect === "function";
  return signs ? (found as InjectedWallet) : null;
}
