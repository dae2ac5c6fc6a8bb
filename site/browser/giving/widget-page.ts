import { offerCopying } from "./copying.ts";

const form = document.querySelector<HTMLFormElement>("#button-maker");
if (form !== null) enhance(form);

/** Shows the tag for what is typed, and the button that it makes. */
function enhance(maker: HTMLFormElement): void {
  const tag = partOf("#button-tag");
  const place = partOf("#button-place");
  const shown = partOf("#button-shown");
  const asked = new URLSearchParams(location.search).get("nonprofit");
  const field = maker.elements.namedItem("nonprofit") as HTMLInputElement;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = () => {
    const script = scriptOf(new FormData(maker));
    const known = script.dataset["nonprofit"] !== "";
    tag.textContent = textOf(script);
    shown.hidden = !known;
    place.replaceChildren(...(known ? [script] : []));
  };
  maker.hidden = false;
  maker.addEventListener("submit", (event) => event.preventDefault());
  maker.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(draw, 300);
  });
  offerCopying(partOf(".copy"), tag);
  if (asked !== null) field.value = asked;
  draw();
}

function partOf(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
}

function scriptOf(typed: FormData): HTMLScriptElement {
  const script = document.createElement("script");
  script.async = true;
  script.src = "/widget/donate.js";
  for (const name of ["nonprofit", "amount", "label"]) {
    script.dataset[name] = String(typed.get(name) ?? "").trim();
  }
  return script;
}

/** The tag as somebody copies it; whatever was typed stays inside its quotes. */
function textOf(script: HTMLScriptElement): string {
  const { nonprofit = "", amount = "", label = "" } = script.dataset;
  const quoted = (text: string) =>
    `"${text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")}"`;
  return `<script async src=${quoted(script.src)}
  data-nonprofit=${quoted(nonprofit || "SLUG")} data-amount=${quoted(amount)} data-label=${quoted(label)}></script>`;
}
