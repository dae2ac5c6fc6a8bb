import { debounced, el, part } from "#site/browser/dom.ts";
import { pathHere, type Say, sayingOf } from "#site/browser/texts.ts";
import { type SearchResults, type FoundItem, openEngine, placeHere } from "./engine.ts";
import { offerMore } from "./offer-more.ts";
import { readIn } from "./understood.ts";

/** The pause in typing before a search, because each search costs requests. */
const restMs = 150;
const resultsMax = 10;

type Box = {
  whole: HTMLFormElement;
  field: HTMLInputElement;
  count: HTMLElement;
  list: HTMLOListElement;
  /** The texts of the group "box". */
  text: Say;
};

const whole = document.querySelector<HTMLFormElement>("#search");
if (whole !== null) {
  const field = part("#search-words", whole) as HTMLInputElement;
  const list = part("#search-results", whole) as HTMLOListElement;
  enhance({ whole, field, list, text: sayingOf(whole), count: part("#search-count", whole) });
}

/** Without this script the form still works: the service answers it. */
function enhance(box: Box): void {
  const { field } = box;
  const names = JSON.parse(box.whole.dataset["names"] ?? "{}");
  const engine = openEngine({ text: box.text, names });
  let turn = 0;
  let latestWords = "";
  const search = async (literal = false) => {
    const words = field.value.trim();
    if (words === latestWords && !literal) return;
    latestWords = words;
    const mine = ++turn;
    rememberSearch(words, literal);
    if (words === "") return clear(box);
    box.count.textContent = box.text("searching");
    try {
      const results = await engine.search(words, literal);
      const again = (other: string, asTyped: boolean) => {
        field.value = other;
        field.focus();
        void search(asTyped);
      };
      if (mine === turn) await show(box, results, { again, current: () => mine === turn });
    } catch {
      if (mine !== turn) return;
      latestWords = "";
      clear(box);
      box.count.textContent = box.text("away");
    }
  };
  const { later } = debounced(() => void search(), restMs);
  field.addEventListener("input", () => {
    const [first = ""] = field.value.trim().split(/\s+/);
    engine.preload(first);
    later();
  });
  box.whole.addEventListener("keydown", (event) => moveBetween(box, event));
  // The page of a search shown with the words as typed takes them so, too.
  box.whole.addEventListener("formdata", ({ formData }) => {
    const parameters = new URLSearchParams(location.search);
    const isShown = parameters.get("q") === field.value.trim();
    if (isShown && parameters.has("literal")) formData.set("literal", "1");
  });
  const before = new URLSearchParams(location.search);
  field.value ||= before.get("q") ?? "";
  void search(before.has("literal"));
}

/** Puts the search into the address, so that Back and Reload find the results again. Enter opens the search page. */
function rememberSearch(words: string, literal: boolean): void {
  const query = new URLSearchParams({ q: words, ...(literal ? { literal: "1" } : {}) });
  history.replaceState(null, "", words === "" ? location.pathname : `?${query}`);
}

function clear({ count, list }: Box): void {
  count.textContent = "";
  list.replaceChildren();
}

async function show(
  box: Box,
  results: SearchResults,
  { again, current }: { again: (q: string, literal: boolean) => void; current: () => boolean },
): Promise<void> {
  const items = await results.items(0, resultsMax);
  if (!current()) return;
  box.count.textContent = wording(results, box.text);
  const { answer } = results;
  const note = answer && noteOf(answer, box.text);
  if (note) box.count.append(` · ${note}`);
  const chips = answer && readIn(box.field.value, answer.understood);
  const here = placeHere();
  for (const { text, values, q, literal } of chips ?? []) {
    const { place } = values;
    const words = box.text(text, place === undefined ? values : { ...values, place: here(place) });
    const label = `${words} ${box.whole.dataset["remove"]}`;
    const attributes = { type: "button", class: "chip", "aria-label": label };
    const button = el("button", attributes, [`${words} ×`]);
    button.addEventListener("click", () => again(q, literal));
    box.count.append(" ", button);
  }
  box.list.replaceChildren(...items.map(drawn));
  offerMore(box.list, results, { draw: drawn, words: box.text("more"), current });
}

function wording({ total: count, exact }: SearchResults, text: Say): string {
  if (count === 0) return text("none");
  return text(exact || count === 1 ? "found" : "about", { count });
}

/** The service's note is in English. */
function noteOf({ note, matching }: NonNullable<SearchResults["answer"]>, text: Say): string {
  if (document.documentElement.lang === "en") return note ?? "";
  return note === null || matching > 0 ? "" : text("similar");
}

function drawn({ url, title, note, line, warning, heading }: FoundItem): HTMLElement {
  const item = el("li", {}, [el("a", { href: pathHere(url), dir: "auto" }, [title])]);
  if (heading) item.prepend(el("p", { class: "related" }, [heading]));
  if (warning) item.append(" ", el("span", { class: "mark bad" }, [warning]));
  if (note !== "") item.append(" ", el("span", { class: "note" }, [note]));
  if (line !== "") item.append(" ", el("span", { class: "line" }, [line]));
  return item;
}

/** Arrow keys move from the field through the results and back; Escape returns to the field. */
function moveBetween({ field, list }: Box, event: KeyboardEvent): void {
  const stops = [field, ...list.querySelectorAll<HTMLElement>("a, button")];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const next = event.key === "Escape" && at > 0 ? field : stops[at + step];
  if (at < 0 || next === undefined || next === document.activeElement) return;
  event.preventDefault();
  next.focus();
}
