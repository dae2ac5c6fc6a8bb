type Attributes = Readonly<Record<string, string | boolean>>;

/** An element with attributes and children; texts stay texts, so nothing that a stranger wrote becomes markup. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
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
