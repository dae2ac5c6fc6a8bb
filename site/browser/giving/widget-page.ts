import { debounced, el, offerCopying, part } from "#site/browser/dom.ts";
import { type FoundItem, openEngine } from "#site/browser/search/engine.ts";

const form = document.querySelector<HTMLFormElement>("#button-maker");
if (form !== null) enhance(form);

const offeredMax = 8;

/** Shows the tag for the typed values, and the button that it makes. */
function enhance(maker: HTMLFormElement): void {
  const tag = part("#button-tag");
  const slug = new URLSearchParams(location.search).get("nonprofit");
  const place = part("#button-place");
  const draw = () => {
    const script = scriptOf(new FormData(maker));
    const hasNonprofit = script.dataset["nonprofit"] !== "";
    tag.textContent = textOf(script);
    place.replaceChildren(hasNonprofit ? script : (place.dataset["empty"] ?? ""));
  };
  const field = maker.elements.namedItem("nonprofit") as HTMLInputElement;
  // Only names and addresses are offered, so no texts are needed.
  const engine = openEngine({ text: () => "", names: {} });
  const offer = async () => {
    const offers = await (await engine.search(field.value, false)).items(0, offeredMax);
    const option = ({ url: value, title: label }: FoundItem) => el("option", { value, label });
    part("#button-found").replaceChildren(...offers.map(option));
  };
  field.addEventListener("input", debounced(() => void offer().catch(() => {}), 300).later);
  maker.addEventListener("submit", (event) => event.preventDefault());
  maker.addEventListener("input", debounced(draw, 300).later);
  offerCopying(part(".copy"), tag);
  if (slug !== null) field.value = slug;
  draw();
}

function scriptOf(typed: FormData): HTMLScriptElement {
  const script = document.createElement("script");
  script.async = true;
  script.src = "/widget/donate.js";
  for (const name of ["nonprofit", "amount", "label"]) {
    // People may paste the address of a profile.
    script.dataset[name] = String(typed.get(name) ?? "")
      .trim()
      .replace(/^.*\/nonprofits\/([^/?#\s]+).*$/, "$1");
  }
  return script;
}

/** The tag to copy; typed text stays inside its quotes. */
function textOf(script: HTMLScriptElement): string {
  const { nonprofit = "", amount = "", label = "" } = script.dataset;
  const quoted = (text: string) =>
    `"${text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")}"`;
  return `<script async src=${quoted(script.src)}
  data-nonprofit=${quoted(nonprofit || "hope-kitchen")} data-amount=${quoted(amount)} data-label=${quoted(label)}></script>`;
}
