import { sayingOf } from "./texts.ts";

/** An element with attributes and children; texts stay texts, so nothing that a stranger wrote becomes markup. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | boolean>> = {},
  children: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** A link that leaves the page where the widget stands as it is. */
export const awayLink = (href: string, words: string, className = ""): HTMLAnchorElement =>
  el("a", { href, class: className, target: "_blank", rel: "noopener" }, [words]);

/** The first element that a selector finds. Throws when the page has none: page and script belong together. */
export function part(selector: string, within: ParentNode = document): HTMLElement {
  const element = within.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
}

/** Shows facts as rows of a definition list, leaving out those that are null. */
export const showFacts = (
  list: HTMLElement,
  facts: readonly (readonly [label: string, what: Node | string | null])[],
): void =>
  list.replaceChildren(
    ...facts.flatMap(([label, what]) =>
      what === null ? [] : [el("div", {}, [el("dt", {}, [label]), el("dd", {}, [what])])],
    ),
  );

/** Calls a function once nothing has called for it for a while. */
export function debounced(call: () => void, restMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => clearTimeout(timer);
  const later = () => {
    cancel();
    timer = setTimeout(call, restMs);
  };
  const now = () => {
    cancel();
    call();
  };
  return { later, now, cancel };
}

/** Makes a button, hidden until now, copy a text; the button itself says how that went, by the texts of the group "copy", which it carries. */
export function offerCopying(button: HTMLElement, text: HTMLElement): void {
  button.hidden = false;
  const say = sayingOf(button);
  const words = button.textContent ?? "";
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text.textContent ?? "");
      button.textContent = say("done");
    } catch {
      // Where the clipboard is closed to pages, the text is at least marked.
      getSelection()?.selectAllChildren(text);
      button.textContent = say("marked");
    }
    setTimeout(() => {
      button.textContent = words;
    }, 4_000);
  };
  button.addEventListener("click", () => void copy());
}
