import type { OnboardingAnswer } from "#content/shapes/onboarding.ts";
import { offerProof } from "./wallet-proof.ts";

const form = document.querySelector<HTMLFormElement>("#onboard");
if (form !== null) enhance(form);

type Problem = { detail?: string; errors?: { path: string; message: string }[] };

/** Sends the form as JSON, and shows what is wrong beside the fields. */
function enhance(whole: HTMLFormElement): void {
  partOf("#onboard-plain").hidden = true;
  partOf("#onboard-example").hidden = true;
  whole.hidden = false;
  const claimed = new URLSearchParams(location.hash.slice(1)).get("claim");
  if (claimed !== null) fieldOf(whole, "claim_slug").value = claimed;
  const proof = offerProof({
    wallet: fieldOf(whole, "usdc_wallet"),
    signature: fieldOf(whole, "wallet_signature"),
  });
  let sending = false;
  whole.addEventListener("submit", (event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    clear(whole);
    send(whole, { ...valuesOf(whole), ...proof() })
      .catch(() => complain("The directory does not answer. Please try again."))
      .finally(() => {
        sending = false;
      });
  });
}

async function send(whole: HTMLFormElement, body: object): Promise<void> {
  const response = await fetch("/api/onboard", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  if (response.ok) thank(whole, answer as OnboardingAnswer);
  else refuse(whole, answer as Problem);
}

function partOf(selector: string): HTMLElement {
  const part = document.querySelector<HTMLElement>(selector);
  if (part === null) throw new Error(`the page has no ${selector}`);
  return part;
}

type Field = HTMLInputElement | HTMLTextAreaElement;

function fieldOf(whole: HTMLFormElement, name: string): Field {
  return whole.elements.namedItem(name) as Field;
}

/** What was typed; of a profile's address the slug. */
function valuesOf(whole: HTMLFormElement): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(whole)) {
    if (typeof value === "string" && value.trim() !== "") values[name] = value.trim();
  }
  const slug = /\/nonprofits\/([^/?#]+)/.exec(values["claim_slug"] ?? "")?.[1];
  return slug === undefined ? values : { ...values, claim_slug: slug };
}

function thank(whole: HTMLFormElement, { message, status_url }: OnboardingAnswer): void {
  const sent = partOf("#onboard-sent");
  sent.textContent = message;
  if (status_url !== null) {
    const link = document.createElement("a");
    link.href = status_url;
    link.textContent = status_url;
    const line = document.createElement("p");
    line.append("Keep this link, it is shown only here: ", link);
    sent.append(line);
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
  complain(first === null ? (detail ?? "It was not accepted.") : "Please mend what is marked.");
  (first ?? partOf("#onboard-wrong")).focus();
}

function complain(message: string): void {
  partOf("#onboard-wrong").textContent = message;
}

function clear(whole: HTMLFormElement): void {
  complain("");
  for (const place of whole.querySelectorAll(".wrong")) place.textContent = "";
  for (const field of whole.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
  }
}
