import { el, part } from "#site/browser/dom.ts";
import { openEngine } from "./engine.ts";

// Where no service draws the page of a search: the directory's own index answers behind the same address.
const heading = part("#search-heading");
const list = part("#search-list");
const shownAtOnce = 20;
const asked = new URLSearchParams(location.search);
const words = asked.get("q")?.trim() ?? "";

if (words !== "") void show();

async function show(): Promise<void> {
  (part("#search-words") as HTMLInputElement).value = words;
  heading.textContent = "Searching…";
  try {
    const found = await openEngine().search(words, false);
    const items = await found.items(0, shownAtOnce);
    const about = found.exact || found.total < 2 ? "" : "About ";
    heading.textContent =
      found.total === 0
        ? `Nothing found for “${words}”`
        : `${about}${found.total.toLocaleString("en")} for “${words}”`;
    list.before(
      el("p", { class: "notice" }, [
        "This copy of the directory has no search service: filters, register numbers, places and typing mistakes are not understood here.",
      ]),
    );
    list.replaceChildren(
      ...items.map(({ url, title, place, line }) =>
        el("li", {}, [
          el("a", { href: url }, [title]),
          el("p", { class: "note" }, [place]),
          el("p", {}, [line]),
        ]),
      ),
    );
  } catch {
    heading.textContent = "Search is not available at the moment. Please try again.";
  }
}
