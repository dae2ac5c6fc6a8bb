import { openDialog, shadowStyles } from "./dialog.ts";
import { el } from "#site/browser/dom.ts";

/**
 * <script async src="https://directory.example/widget/donate.js" data-nonprofit="slug"></script> puts a button in its
 * own place; data-amount and data-label are optional. Everything lives in a closed shadow root, so neither the styles
 * nor the scripts of the page around it reach inside. See docs/widget.md.
 */
const script = document.currentScript;
if (script instanceof HTMLScriptElement && script.dataset["placed"] === undefined) {
  // A page that moves its elements about runs the script again.
  script.dataset["placed"] = "";
  place(script);
}

function place(from: HTMLScriptElement): void {
  const { nonprofit = "", amount = "5", label = "Donate" } = from.dataset;
  if (!/^[a-z0-9-]{1,200}$/.test(nonprofit)) return;
  const host = document.createElement("div");
  const shadow = host.attachShadow({ mode: "closed" });
  shadow.adoptedStyleSheets = [shadowStyles()];
  const directory = new URL(from.src).origin;
  const button = el("button", { type: "button", class: "open" }, [label]);
  let open: (() => void) | null = null;
  button.addEventListener("click", () => {
    open ??= openDialog(shadow, { directory, slug: nonprofit, amount });
    open();
  });
  shadow.append(button);
  // Nothing in the head is shown.
  if (from.closest("head") === null) from.after(host);
  else if (document.body === null) {
    document.addEventListener("DOMContentLoaded", () => document.body.append(host));
  } else document.body.append(host);
}
