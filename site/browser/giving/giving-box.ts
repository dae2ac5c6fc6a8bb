import { offerCopying } from "./copying.ts";
import { type Panel, openPanel } from "./panel.ts";
import { openGivingService } from "./service.ts";
import type { Found } from "./watch.ts";

for (const box of document.querySelectorAll<HTMLElement>(".giving")) enhance(box);

/** Without this script the box shows the address and what to do; everything that needs it is hidden until now. */
function enhance(box: HTMLElement): void {
  const { slug = "", wallet = "" } = box.dataset;
  const part = (selector: string): HTMLElement => {
    const element = box.querySelector<HTMLElement>(selector);
    if (element === null) throw new Error(`the box has no ${selector}`);
    return element;
  };
  const ask = part(".ask") as HTMLFormElement;
  const amount = part("#give-amount") as HTMLInputElement;
  const panel = openPanel(
    {
      ask,
      amount,
      presets: [...box.querySelectorAll<HTMLButtonElement>(".presets button")],
      payment: part(".payment"),
      qr: part(".qr"),
      walletLink: part(".payment a") as HTMLAnchorElement,
      status: part(".found"),
      again: part(".again") as HTMLButtonElement,
    },
    {
      service: openGivingService("", slug),
      wallet,
      afterwards: (found) => receiptLinks(slug, found),
    },
  );
  ask.hidden = false;
  offerTelling(part(".tell") as HTMLFormElement, panel);
  offerCopying(part(".copy"), part(".wallet"));
  const wanted = new URLSearchParams(location.search).get("amount");
  if (wanted !== null) amount.value = wanted;
  // Anyone who opens the page of its own wants to give; a profile is read by many who do not.
  if (location.pathname.startsWith("/donate/")) void panel.show();
}

function offerTelling(form: HTMLFormElement, panel: Panel): void {
  const field = form.querySelector("input");
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const signature = field?.value.trim() ?? "";
    if (signature !== "") void panel.tell(signature);
  });
}

function receiptLinks(slug: string, { settlement }: Found): (Node | string)[] {
  const query = new URLSearchParams({ nonprofit: slug, id: settlement.donation_id });
  const links: (Node | string)[] = [link(`/receipt?${query}`, "Receipt")];
  const explorer = settlement.explorer_url;
  if (explorer?.startsWith("https://")) links.push(" · ", link(explorer, "Transaction"));
  return links;
}

function link(href: string, words: string): HTMLAnchorElement {
  const element = document.createElement("a");
  element.href = href;
  element.textContent = words;
  return element;
}
