import { openDialog, shadowStyles, warn } from "./dialog.ts";
import { el } from "#site/browser/dom.ts";
import { sayIn, type ScriptTexts } from "#site/browser/texts.ts";

/** Inserted by site/renderer/compile-child.ts: the English texts, and the button's label in each language. */
declare const WIDGET_TEXTS: ScriptTexts;
declare const WIDGET_LABELS: Readonly<Record<string, string>>;
// Constants, because each use of an inserted value would be a copy of it.
const inEnglish = WIDGET_TEXTS;
const labels = WIDGET_LABELS;

/**
 * <script async src="https://directory.example/widget/donate.js" data-nonprofit="slug"></script> puts a button where it
 * stands; data-amount and data-label are optional. Without data-nonprofit, each <div id="giveready-donate"
 * data-slug="slug"> gets one: the markup of another directory, where only the host changes. The button uses the language of
 * the page. Everything is in a closed shadow root, out of reach of the page's styles and scripts. See docs/widget.md.
 */
const running = document.currentScript;
const tags =
  running instanceof HTMLScriptElement
    ? [running]
    : // A module does not know its own tag, and runs once for all tags.
      [...document.querySelectorAll<HTMLScriptElement>('script[src*="/widget/donate.js"]')];
for (const tag of tags) fill(tag, tag.src);
if (tags.length === 0) fill(null, importedFrom());

/** The address of this script when a page imports it, which leaves no tag; a classic script has no import.meta. */
function importedFrom(): string {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  return loaded.findLast((name) => name.includes("/widget/donate.js")) ?? location.href;
}

/** Puts a button beside a tag that names a nonprofit; else one into each place of the page, once it is loaded. */
function fill(tag: HTMLScriptElement | null, source: string): void {
  const directory = new URL(source).origin;
  const named = tag?.dataset["nonprofit"];
  if (tag && named !== undefined) return placeOnce(tag, named, directory);
  whenRead(() => {
    const places = document.querySelectorAll<HTMLElement>('[id="giveready-donate"]');
    if (places.length === 0) warn("no button: neither data-nonprofit nor #giveready-donate");
    for (const element of places) placeOnce(element, element.dataset["slug"] ?? "", directory);
  });
}

function whenRead(run: () => void): void {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", run);
  else run();
}

/** Places a button once, because a page that moves its elements runs the script again. */
function placeOnce(from: HTMLElement, slug: string, directory: string): void {
  if (from.dataset["placed"] !== undefined) return;
  from.dataset["placed"] = "";
  if (/^[a-z0-9-]{1,200}$/.test(slug)) place(from, slug, directory);
  else warn(`no button: "${slug}" is no slug`);
}

function place(from: HTMLElement, nonprofit: string, directory: string): void {
  const { amount = "5" } = from.dataset;
  const host = document.createElement("div");
  const shadow = host.attachShadow({ mode: "closed" });
  shadow.adoptedStyleSheets = [shadowStyles()];
  const around = from.closest<HTMLElement>("[lang]")?.lang ?? "";
  const language = ourLanguage(around);
  const prefix = language === "en" ? "" : `/${language}`;
  const label = from.dataset["label"];
  // A label from the page is in the page's language, even if the directory does not have it.
  host.lang = label === undefined ? language : around;
  const button = el("button", { type: "button", class: "open" }, [label ?? labels[language] ?? ""]);
  let opening: Promise<() => void> | null = null;
  button.addEventListener("click", () => {
    opening ??= textsIn(language, directory).then((fetched) => {
      const texts = fetched ?? inEnglish;
      const spoken = fetched === null ? "en" : language;
      const text = sayIn(texts, spoken);
      return openDialog(shadow, { directory, slug: nonprofit, amount, prefix, spoken, text });
    });
    void opening.then((open) => open());
  });
  shadow.append(button);
  if (!(from instanceof HTMLScriptElement)) from.append(host);
  // Elements in the head are not shown, so the button goes to the end of the body.
  else if (from.closest("head") === null) from.after(host);
  else whenRead(() => document.body.append(host));
}

/** The language of the page around the button if the directory has it, else English. */
function ourLanguage(around: string): string {
  const language = around.toLowerCase();
  return (
    [language, language.split("-")[0] ?? ""].find((code) => Object.hasOwn(labels, code)) ?? "en"
  );
}

/** The texts of the dialog; null for English, or when they cannot be fetched. */
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
