import { donationAmount, usdcText } from "#content/donation/money.ts";
import type { PaymentRequirements } from "#content/contract/donation.ts";
import { drawQrCode } from "./qr-code.ts";
import type { GivingService, Told } from "./service.ts";
import { type Found, readingTime, watchFor } from "./watch.ts";

/** The elements that a payment takes; the directory's pages and the widget each have their own. */
export type PanelParts = {
  ask: HTMLFormElement;
  amount: HTMLInputElement;
  presets: readonly HTMLButtonElement[];
  /** Shown with the QR code and the link for this device. */
  payment: HTMLElement;
  qr: HTMLElement;
  walletLink: HTMLAnchorElement;
  /** Announces what happens. */
  status: HTMLElement;
  /** Looks once more after the panel has stopped looking by itself. */
  again: HTMLButtonElement;
};

export type PanelOptions = {
  service: GivingService;
  /** The wallet that people were shown before; a payment to another one is never offered. Null: none was shown. */
  wallet: string | null;
  /** Called before a payment is shown. */
  onRequirements?: (requirements: PaymentRequirements) => void;
  /** What follows the announcement that money came: links. */
  afterwards: (found: Found) => (Node | string)[];
};

export type Panel = {
  /** Asks how to pay what the amount's field says, and shows it. */
  show(): Promise<void>;
  /** Goes on until a transfer is found that is told of by its signature. */
  tell(txSignature: string): Promise<void>;
  /** Stops looking. */
  stop(): void;
};

/** People type amounts digit by digit. */
const restMs = 500;

export function openPanel(parts: PanelParts, options: PanelOptions): Panel {
  const follow = openFollowing(parts, options);
  const show = () => showPayment(parts, options, follow);
  listen(parts, show);
  return {
    show,
    tell: async (txSignature) => {
      const signal = follow.restart();
      const asked = amountOf(parts);
      follow.say("Looking for the transaction…");
      await follow.until(signal, () =>
        options.service.tell(asked.ok ? asked.value : "1", txSignature),
      );
    },
    stop: () => void follow.restart(),
  };
}

type Following = {
  say(words: string): void;
  /** Stops looking for what was looked for before. */
  restart(): AbortSignal;
  /** Looks until money is found, and says so. */
  until(signal: AbortSignal, look: () => Promise<Told>): Promise<void>;
};

function openFollowing(
  { ask, payment, status, again }: PanelParts,
  { afterwards }: PanelOptions,
): Following {
  let watching = new AbortController();
  let lookAgain = () => {};
  again.addEventListener("click", () => lookAgain());
  const follow: Following = {
    say: (words) => {
      status.textContent = words;
    },
    restart: () => {
      watching.abort();
      watching = new AbortController();
      again.hidden = true;
      return watching.signal;
    },
    until: async (signal, look) => {
      const found = await watchFor(look, signal);
      if (signal.aborted) return;
      if (found === null) {
        follow.say("No transfer was found so far. One that is still in progress counts.");
        again.hidden = false;
        lookAgain = () => void follow.until(follow.restart(), look);
        return;
      }
      if (found.kind === "refused") return follow.say(found.words);
      payment.hidden = true;
      ask.hidden = true;
      status.replaceChildren(`Received: ${found.settlement.amount} USDC. Thank you. `);
      status.append(...afterwards(found));
    },
  };
  return follow;
}

async function showPayment(
  parts: PanelParts,
  { service, wallet, onRequirements }: PanelOptions,
  follow: Following,
): Promise<void> {
  const { payment } = parts;
  const signal = follow.restart();
  const refuse = (words: string) => {
    payment.hidden = true;
    follow.say(words);
  };
  const asked = amountOf(parts);
  if (!asked.ok) return refuse(asked.failure);
  if (payment.hidden) follow.say("Asking how to pay…");
  const answer = await service.ask(asked.value);
  if (signal.aborted) return;
  if (answer.kind === "refused") return refuse(answer.words);
  if (answer.kind === "away") return refuse(away);
  const { requirements } = answer;
  if (!isPayable(requirements, wallet)) return refuse(changed);
  onRequirements?.(requirements);
  draw(parts, requirements);
  follow.say(`Waiting for ${asked.value} USDC. This page updates when it arrives.`);
  await readingTime(signal);
  await follow.until(signal, () => service.statusOf(requirements.memo));
}

const away =
  "The directory's service does not answer at the moment. Nothing was sent; please try again in a moment.";
const changed =
  "The organisation's wallet is no longer the one on this page. Please reload the page before you give.";

/** The amount as the service understands it, or what is wrong with it. */
function amountOf({ amount, presets }: PanelParts) {
  const typed = donationAmount(amount.value.trim().replace(",", "."));
  amount.setAttribute("aria-invalid", String(!typed.ok));
  const plain = typed.ok ? usdcText(typed.value) : "";
  for (const preset of presets) preset.setAttribute("aria-pressed", String(preset.value === plain));
  return typed.ok ? ({ ok: true, value: plain } as const) : typed;
}

/** A link of another form, or to another wallet, must not be drawn, no matter who answered. */
const isPayable = ({ recipient, solana_pay }: PaymentRequirements, wallet: string | null) =>
  solana_pay.startsWith(`solana:${recipient}?`) && (wallet === null || wallet === recipient);

function draw(parts: PanelParts, { solana_pay, amount, nonprofit }: PaymentRequirements): void {
  const label = `QR code to give ${amount} USDC to ${nonprofit} with a Solana wallet`;
  parts.qr.replaceChildren(drawQrCode(solana_pay, label));
  parts.walletLink.href = solana_pay;
  parts.payment.hidden = false;
}

function listen({ ask, amount, presets, payment }: PanelParts, show: () => Promise<void>): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = () => {
    clearTimeout(timer);
    void show();
  };
  ask.addEventListener("submit", (event) => {
    event.preventDefault();
    now();
  });
  amount.addEventListener("input", () => {
    clearTimeout(timer);
    // Nothing is asked before somebody wants to see the code.
    if (!payment.hidden || amount.getAttribute("aria-invalid") === "true") {
      timer = setTimeout(() => void show(), restMs);
    }
  });
  for (const preset of presets) {
    preset.addEventListener("click", () => {
      amount.value = preset.value;
      now();
    });
  }
}
