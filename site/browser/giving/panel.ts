import { encode } from "uqr";
import type { PaymentQuote, Settlement } from "#content/contract/donation.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { donationAmount, usdcText } from "#content/contract/base/money.ts";
import { debounced } from "#site/browser/dom.ts";
import type { Say } from "#site/browser/texts.ts";
import { type GivingService, type Outcome, readingTime, watchFor } from "./service.ts";

/** The elements of a payment; the directory's pages and the widget each have their own. */
export type PanelParts = {
  ask: HTMLFormElement;
  amount: HTMLInputElement;
  presets: readonly HTMLButtonElement[];
  /** Shown with the QR code and the link for this device. */
  payment: HTMLElement;
  qr: HTMLElement;
  walletLink: HTMLAnchorElement;
  status: HTMLElement;
  /** The button to look again after the panel has stopped looking. */
  again: HTMLButtonElement;
};

export type PanelOptions = {
  service: GivingService;
  /** The texts of the group "pay" and, where a proof can be submitted, those of the group "refused". */
  text: Say;
  /** The wallet that the page showed; a payment to another one is never offered. */
  wallet: string;
  /** Called with each chosen amount, or with what is wrong with it, before the service is asked. */
  onAmount?: (amount: Result<string, string>) => void;
  onRequirements?: (requirements: PaymentQuote) => void;
  onOpened?: (memo: string) => void;
  /** Returns the links to show after a payment was found. */
  afterwards: (settlement: Settlement) => (Node | string)[];
};

/** The pause after which a typed amount counts as complete. */
const restMs = 500;

/** Makes the elements request a payment, show it, and report when it was found. */
export function openPanel(
  parts: PanelParts,
  { service, text, wallet, onAmount, onRequirements, onOpened, afterwards }: PanelOptions,
) {
  const { ask, amount, payment, status, again } = parts;
  let watching = new AbortController();
  let lookAgain = () => {};

  const say = (words: string, isFault = false) => {
    status.textContent = words;
    status.classList.toggle("wrong", isFault);
  };

  /** Stops the current search for a payment. */
  function restart(): AbortSignal {
    watching.abort();
    watching = new AbortController();
    again.hidden = true;
    return watching.signal;
  }

  const why = (code: string) => {
    const words = text(code);
    return words === code ? text("refused") : words;
  };

  /** Looks until a payment is found, and reports it. */
  async function follow(signal: AbortSignal, look: () => Promise<Outcome>): Promise<void> {
    const receipt = await watchFor(look, signal);
    if (signal.aborted) return;
    if (receipt === null) {
      say(text("not_found"));
      again.hidden = false;
      lookAgain = () => void follow(restart(), look);
      return;
    }
    if (receipt.kind === "refused") return say(why(receipt.code), true);
    const links = afterwards(receipt.settlement);
    payment.hidden = true;
    ask.hidden = true;
    status.replaceChildren(text("received", { amount: receipt.settlement.amount }), ...links);
  }

  /** Asks how to pay the amount in the field, and shows that. */
  async function show(): Promise<void> {
    const signal = restart();
    const refuse = (words: string) => {
      payment.hidden = true;
      say(words, true);
    };
    const wantedAmount = amountOf(parts, text);
    onAmount?.(wantedAmount);
    // A page that shows the fault beside the field must not show it twice.
    if (!wantedAmount.ok) return refuse(onAmount === undefined ? wantedAmount.failure : "");
    if (payment.hidden) say(text("asking"));
    const answer = await service.ask(wantedAmount.value);
    if (signal.aborted) return;
    if (answer.kind === "refused") return refuse(why(answer.code));
    if (answer.kind === "away") return refuse(text("away"));
    const { requirements } = answer;
    if (!isPayable(requirements, wallet)) return refuse(text("changed"));
    onRequirements?.(requirements);
    draw(parts, requirements, text);
    // A phone may drop this page while the wallet is open: once asked, the service looks for the payment by itself.
    const lookOnce = () => {
      onOpened?.(requirements.memo);
      void service.statusOf(requirements.memo);
    };
    parts.walletLink.addEventListener("click", lookOnce, { signal });
    say(text("waiting", { amount: Number(wantedAmount.value) }));
    await readingTime(signal);
    await follow(signal, () => service.statusOf(requirements.memo));
  }

  /** Looks until the payment with this memo is found. */
  async function find(memo: string): Promise<void> {
    say(text("looking"));
    await follow(restart(), () => service.statusOf(memo));
  }

  /** Looks until the transfer with this signature is found. */
  async function prove(txSignature: string): Promise<void> {
    const signal = restart();
    const wantedAmount = amountOf(parts, text);
    say(text("looking"));
    await follow(signal, () =>
      service.prove(wantedAmount.ok ? wantedAmount.value : "1", txSignature),
    );
  }

  again.addEventListener("click", () => lookAgain());
  const { later, now, cancel } = debounced(() => void show(), restMs);
  ask.addEventListener("submit", (event) => {
    event.preventDefault();
    now();
  });
  amount.addEventListener("input", () => {
    cancel();
    // The service is asked only once the reader has wanted to see the code.
    if (!payment.hidden || amount.getAttribute("aria-invalid") === "true") later();
  });
  // Not on each input: "2.0" may become "2.05".
  amount.addEventListener("change", () => {
    const read = readAmount(amount.value);
    if (read.ok) amount.value = read.value;
  });
  for (const preset of parts.presets) {
    preset.addEventListener("click", () => {
      amount.value = preset.value;
      now();
    });
  }
  return { say, show, prove, find, stop: () => void restart() };
}

/** The amount in the service's form, or the text that says what is wrong with it. */
function amountOf({ amount, presets }: PanelParts, text: Say) {
  const read = readAmount(amount.value);
  amount.setAttribute("aria-invalid", String(!read.ok));
  const plain = read.ok ? read.value : "";
  for (const preset of presets) preset.setAttribute("aria-pressed", String(preset.value === plain));
  return read.ok ? read : fail(text(read.failure));
}

/** Reads an amount with a decimal point or comma; the failure names a text. "1,000" fails: to some it is a thousand. */
function readAmount(written: string): Result<string, "amount_wrong" | "amount_comma"> {
  const trimmed = written.trim();
  if (/^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?$/.test(trimmed)) return fail("amount_comma");
  const amount = donationAmount(trimmed.replace(",", "."));
  return amount.ok ? ok(usdcText(amount.value)) : fail("amount_wrong");
}

/** Whether a link may be shown: a link of another form or to another wallet must not be, whoever sent it. */
const isPayable = ({ recipient, solana_pay }: PaymentQuote, wallet: string) =>
  solana_pay.startsWith(`solana:${recipient}?`) && wallet === recipient;

function draw(parts: PanelParts, { solana_pay, amount, nonprofit }: PaymentQuote, text: Say): void {
  const label = text("qr", { amount, name: nonprofit });
  parts.qr.replaceChildren(drawQrCode(solana_pay, label));
  parts.walletLink.href = solana_pay;
  parts.payment.hidden = false;
}

const svg = "http://www.w3.org/2000/svg";
/** Whole pixels per module keep it sharp; where space is short, the page scales it down. */
const modulePixels = 5;
/** White modules around a code. Source: ISO/IEC 18004. */
const quietZone = 4;

/**
 * A text as a QR code, black on white on every page, as scanners need it. `label` describes it to people who cannot see it.
 * It uses no style and no markup, so that no policy of a page blocks it.
 */
function drawQrCode(text: string, label: string): SVGSVGElement {
  // A screen has no stains, so little error correction: few, large modules help a camera most.
  const { size, data } = encode(text, { ecc: "L", boostEcc: true, border: quietZone });
  const drawing = document.createElementNS(svg, "svg");
  drawing.setAttribute("viewBox", `0 0 ${size} ${size}`);
  drawing.setAttribute("width", String(size * modulePixels));
  drawing.setAttribute("shape-rendering", "crispEdges");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  drawing.append(path("#fff", `M0 0h${size}v${size}H0z`), path("#000", modulesOf(data)));
  return drawing;
}

/** Dark modules as horizontal bars, so that a code is one short path. */
function modulesOf(rows: readonly (readonly boolean[])[]): string {
  let bars = "";
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const from = x;
      while (row[x + 1]) x++;
      const length = x - from + 1;
      bars += `M${from} ${y}h${length}v1h-${length}z`;
    }
  }
  return bars;
}

function path(fill: string, d: string): SVGPathElement {
  const element = document.createElementNS(svg, "path");
  element.setAttribute("fill", fill);
  element.setAttribute("d", d);
  return element;
}
