import { el, part } from "#site/browser/dom.ts";
import { pathHere, sayingOf } from "#site/browser/texts.ts";
import { openEngine } from "./engine.ts";

// Where no service draws the page of a search: the directory's own index answers behind the same address.
const heading = part("#search-heading");
const list = part("#search-list");
const shownAtOnce = 20;
const asked = new URLSearchParams(location.search);
const text = sayingOf(part("#search"));
const words = asked.get("q")?.trim() ?? "";

if (words !== "") void show();

async function show(): Promise<void> {
  (part("#search-words") as HTMLInputElement).value = words;
  heading.textContent = text("searching");
  try {
    const found = await openEngine().search(words, false);
    const items = await found.items(0, shownAtOnce);
    const { total: count } = found;
    const kind = count === 0 ? "none_for" : found.exact || count < 2 ? "for" : "about_for";
    heading.textContent = text(kind, { count, q: words });
    list.before(el("p", { class: "notice" }, [text("no_service")]));
    list.replaceChildren(
      ...items.map(({ url, title, place, line }) =>
        el("li", {}, [
          el("a", { href: pathHere(url), dir: "auto" }, [title]),
          el("p", { class: "note" }, [place]),
          el("p", {}, [line]),
        ]),
      ),
    );
  } catch {
    heading.textContent = text("away");
  }
}
