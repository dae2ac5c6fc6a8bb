import { offerCopying, part } from "./dom.ts";

// The secret is after # in the address and is sent in a body, so that no log or referrer contains it.

/** Sends a form's values, and replaces this page's status with that of the page in the answer. */
async function send(form: HTMLFormElement, body: URLSearchParams): Promise<void> {
  const status = part("#status");
  const { silent = "" } = status.dataset;
  status.setAttribute("aria-busy", "true");
  try {
    const headers = { accept: "text/html" };
    const answer = await fetch(form.action, { method: "POST", body, headers, cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const target = page.querySelector("#status") ?? page.querySelector("main");
    status.replaceChildren(...(target?.childNodes ?? [silent]));
    listen();
  } catch {
    status.replaceChildren(silent);
  }
  status.removeAttribute("aria-busy");
}

function listen(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("#status form")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const fields = new FormData(form, event.submitter);
      const texts = [...fields].map(([name, value]) => [name, String(value)]);
      void send(form, new URLSearchParams(texts));
    });
  }
  const copy = document.querySelector<HTMLElement>("#status-copy");
  if (copy !== null) {
    offerCopying(copy, part("#status-link"));
    const print = part("#status-print");
    print.hidden = false;
    print.addEventListener("click", () => globalThis.print());
  }
  document.querySelector<HTMLElement>("#status-notice")?.focus();
}

function show(): void {
  const form = document.querySelector<HTMLFormElement>("#status form");
  const secret = location.hash.slice(1);
  if (form !== null && secret !== "") void send(form, new URLSearchParams({ secret }));
}

listen();
addEventListener("hashchange", () => location.reload());
show();
