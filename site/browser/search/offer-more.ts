import { el } from "#site/browser/dom.ts";
import type { SearchResults, FoundItem } from "./engine.ts";

type More = {
  draw: (item: FoundItem) => HTMLElement;
  /** The button's label. */
  words: string;
  /** False once another search has replaced the list. */
  current?: () => boolean;
};

/** Ends a list of results with a button that adds as many again as the list has. */
export function offerMore(list: HTMLElement, results: SearchResults, more: More): void {
  const step = list.childElementCount;
  const { draw, words, current = () => true } = more;
  const offer = () => {
    const from = list.childElementCount;
    if (from === 0 || from >= results.total) return;
    const button = el("button", { type: "button" }, [words]);
    const last = el("li", {}, [button]);
    list.append(last);
    const add = async () => {
      button.disabled = true;
      const items = await results.items(from, step).catch(() => []);
      if (!current()) return;
      last.remove();
      list.append(...items.map(draw));
      list.children.item(from)?.querySelector("a")?.focus();
      if (items.length > 0) offer();
    };
    button.addEventListener("click", () => void add());
  };
  offer();
}
