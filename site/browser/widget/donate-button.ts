import { openDialog, shadowStyles } from "./dialog.ts";
import { el } from "#site/browser/dom.ts";
import { filled } from "#content/language/fill.ts";
import type { Say, ScriptTexts } from "#site/browser/texts.ts";

/** Put in when this script is built, by site/renderer/compile-child.ts: its texts in English, and what the button says in each language. */
declare const WIDGET_TEXTS: ScriptTexts;
declare const WIDGET_LABELS: Readonly<Record<string, string>>;
// Each use of what is put in would be a copy of it.
const inEnglish = WIDGET_TEXTS;
const labels = WIDGET_LABELS;

/**
 * <script async src="https://directory.example/widget/donate.js" data-nonprofit="slug"></script> puts a button in its
 * own place; data-amount and data-label are optional. It speaks the language of the page around it. Everything lives in a
 * closed shadow root, so neither the styles nor the scripts of the page around it reach inside. See docs/widget.md.
 */
const script = document.currentScript;
if (script instanceof HTMLScriptElement && script.dataset["placed"] === undefined) {
  // A page that moves its elements about runs the script again.
  script.dataset["placed"] = "";
  place(script);
}

function place(from: HTMLScriptElement): void {
  const { nonprofit = "", amount = "5" } = from.dataset;
  if (!/^[a-z0-9-]{1,200}$/.test(nonprofit)) return;
  const host = document.createElement("div");
  const shadow = host.attachShadow({ mode: "closed" });
  shadow.adoptedStyleSheets = [shadowStyles()];
  const directory = new URL(from.src).origin;
  const around = from.closest<HTMLElement>("[lang]")?.lang ?? "";
  const language = ourLanguage(around);
  const prefix = language === "en" ? "" : `/${language}`;
  const label = from.dataset["label"];
  // A label of the page is in the page's language, whether or not the directory has it.
  host.lang = label === undefined ? language : around;
  const button = el("button", { type: "button", class: "open" }, [label ?? labels[language] ?? ""]);
  let opening: Promise<() => void> | null = null;
  button.addEventListener("click", () => {
    opening ??= textsIn(language, directory).then((fetched) => {
      const texts = fetched ?? inEnglish;
      const text: Say = (name, values = {}) => filled(texts[name] ?? name, values, plain);
      const spoken = fetched === null ? "en" : language;
      return openDialog(shadow, { directory, slug: nonprofit, amount, prefix, spoken, text });
    });
    void opening.then((open) => open());
  });
  shadow.append(button);
  // Nothing in the head is shown.
  if (from.closest("head") === null) from.after(host);
  else if (document.body === null) {
    document.addEventListener("DOMContentLoaded", () => document.body.append(host));
  } else document.body.append(host);
}

/** Nothing here is counted, and amounts come as texts. */
const plain = { number: String, plural: () => "other" };

/** The language of the page around the button, where the directory has it; else English. */
function ourLanguage(around: string): string {
  const asked = around.toLowerCase();
  return [asked, asked.split("-")[0] ?? ""].find((one) => Object.hasOwn(labels, one)) ?? "en";
}

/** The texts of the dialog in another language than English; null where they cannot be had. */
async function textsIn(language: string, directory: string): Promise<ScriptTexts | null> {
  if (language === "en") return null;
  try {
    const answer = await fetch(`${directory}/widget/${language}.json`, {
      signal: AbortSignal.timeout(5_000),
    });
    return answer.ok ? ((await answer.json()) as ScriptTexts) : null;
  } catch {
    return null;
  }
}
