import { sayingOf } from "./texts.ts";

/** Makes an element with attributes and children. Texts stay text, so no third-party text becomes markup. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | boolean>>,
  children: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** A link that opens in a new tab, so that the page with the widget stays. */
export const awayLink = (href: string, words: string, className = ""): HTMLAnchorElement =>
  el("a", { href, class: className, target: "_blank", rel: "noopener" }, [words]);

/** The first element that matches a selector. Throws when the page has none, because page and script belong together. */
export function part(selector: string, within: ParentNode = document): HTMLElement {
  const element = within.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
}

/** Shows facts as rows of a definition list, without those that are null. */
export const showFacts = (
  list: HTMLElement,
  facts: readonly (readonly [label: string, what: Node | string | null])[],
): void =>
  list.replaceChildren(
    ...facts.flatMap(([label, what]) =>
      what === null ? [] : [el("div", {}, [el("dt", {}, [label]), el("dd", {}, [what])])],
    ),
  );

/** Wraps a function: `later` calls it once `later` has not been called for `restMs`, `now` calls it at once. */
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

/** Shows a hidden button that copies a text and then says how that went, with its texts of the group "copy". */
export function offerCopying(button: HTMLElement, text: HTMLElement): void {
  button.hidden = false;
  const say = sayingOf(button);
  const words = button.textContent;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = say("done");
    } catch {
      // If the page may not use the clipboard, at least select the text.
      getSelection()?.selectAllChildren(text);
      button.textContent = say("marked");
    }
    setTimeout(() => {
      button.textContent = words;
    }, 4_000);
  };
  button.addEventListener("click", () => void copy());
}
