import { type Engine, type Found, openEngine } from "./engine.ts";

/** One after another while somebody types; each search costs requests. */
const restMs = 150;
const shownAtOnce = 10;

const form = document.querySelector<HTMLFormElement>("#search");
if (form !== null) enhance(boxOf(form));

function boxOf(whole: HTMLFormElement): Box {
  const part = (name: string): Element => {
    const element = whole.querySelector(name);
    if (element === null) throw new Error(`the search has no ${name}`);
    return element;
  };
  return {
    whole,
    field: part("#search-words") as HTMLInputElement,
    count: part("#search-count") as HTMLElement,
    list: part("#search-results") as HTMLOListElement,
  };
}

type Box = {
  whole: HTMLFormElement;
  field: HTMLInputElement;
  count: HTMLElement;
  list: HTMLOListElement;
};

/** The form goes on working without this script: then the service answers it. */
function enhance(box: Box): void {
  const { whole, field } = box;
  let engine: Promise<Engine> | null = null;
  let turn = 0;
  let asked = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Nothing of the index is loaded before somebody wants to search.
  const open = () => (engine ??= openEngine());
  const search = async () => {
    const words = field.value.trim();
    if (words === asked) return;
    asked = words;
    const mine = ++turn;
    if (words === "") return clear(box);
    box.count.textContent = "Searching…";
    try {
      const found = await (await open()).search(words);
      if (mine === turn) await show(box, found, () => mine === turn);
    } catch {
      if (mine !== turn) return;
      asked = "";
      clear(box);
      box.count.textContent = "Search is not available at the moment. Please try again.";
    }
  };
  field.addEventListener("focus", () => void open());
  field.addEventListener("input", () => {
    const [first = ""] = field.value.trim().split(/\s+/);
    void open().then((ready) => ready.preload(first));
    clearTimeout(timer);
    timer = setTimeout(() => void search(), restMs);
  });
  whole.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    void search();
  });
  whole.addEventListener("keydown", (event) => moveBetween(box, event));
  // The field may have the focus, or hold words, before this script is there.
  if (document.activeElement === field) void open();
}

function clear({ count, list }: Box): void {
  count.textContent = "";
  list.replaceChildren();
}

async function show(box: Box, found: Found, current: () => boolean): Promise<void> {
  const items = await found.items(0, shownAtOnce);
  if (!current()) return;
  box.count.textContent = wording(found);
  box.list.replaceChildren(...items.map(drawn));
  offerMore(box, found, current);
}

/** A button below the results that adds as many again. */
function offerMore(box: Box, found: Found, current: () => boolean): void {
  const { list } = box;
  const from = list.childElementCount;
  if (from === 0 || from >= found.total) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Show more";
  const last = document.createElement("li");
  last.append(button);
  list.append(last);
  const add = async () => {
    button.disabled = true;
    const items = await found.items(from, shownAtOnce).catch(() => []);
    if (!current()) return;
    last.remove();
    list.append(...items.map(drawn));
    list.children.item(from)?.querySelector("a")?.focus();
    if (items.length > 0) offerMore(box, found, current);
  };
  button.addEventListener("click", () => void add());
}

function wording({ total, exact }: Found): string {
  if (total === 0) return "Nothing found. Try fewer or other words.";
  const about = exact || total === 1 ? "" : "About ";
  return `${about}${total.toLocaleString("en")} ${total === 1 ? "nonprofit" : "nonprofits"}`;
}

/** Text of the directory is drawn as text, never as markup. */
function drawn({
  url,
  title,
  place,
  line,
}: { [part in "url" | "title" | "place" | "line"]: string }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = url;
  link.textContent = title;
  item.append(link);
  for (const [text, className] of [
    [place, "note"],
    [line, "line"],
  ] as const) {
    if (text === "") continue;
    const part = document.createElement("span");
    part.className = className;
    part.textContent = text;
    item.append(" ", part);
  }
  return item;
}

/** Arrow keys lead from the field through the results and back, Escape leads back to the field. */
function moveBetween({ field, list }: Box, event: KeyboardEvent): void {
  const stops = [field, ...list.querySelectorAll<HTMLElement>("a, button")];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const next = event.key === "Escape" && at > 0 ? field : stops[at + step];
  if (at < 0 || next === undefined || next === document.activeElement) return;
  event.preventDefault();
  next.focus();
}
