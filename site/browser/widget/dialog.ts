import { safeLink } from "#content/nonprofit/safe-link.ts";
import { suggestedUsdc } from "#content/contract/base/money.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { openPanel } from "#site/browser/giving/panel.ts";
import { openGivingService } from "#site/browser/giving/service.ts";
import { awayLink, el } from "#site/browser/dom.ts";
import type { Say } from "#site/browser/texts.ts";

/**
 * The nonprofit and its directory, the first amount in the field, the language's prefix in the directory's addresses ("",
 * "/es"), and the texts.
 */
export type Place = {
  directory: string;
  slug: string;
  amount: string;
  prefix: string;
  /** The language of the texts. */
  spoken: string;
  text: Say;
};

/** Makes the dialog in the shadow root; returns a function that opens it. Nothing is requested before that. */
export function openDialog(shadow: ShadowRoot, place: Place): () => void {
  const { text } = place;
  const title = el("h2", { id: "title" }, [text("donate")]);
  const close = el("button", { type: "button", class: "plain", "aria-label": text("close") }, [
    "✕",
  ]);
  const content = el("div", {}, [el("p", { role: "status" }, [text("loading")])]);
  const dialog = el("dialog", { "aria-labelledby": "title", lang: place.spoken }, [
    el("header", {}, [title, close]),
    content,
  ]);
  let stop = () => {};
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => stop());
  // Typing here must not trigger the page's keyboard shortcuts.
  for (const type of ["keydown", "keypress", "keyup"]) {
    dialog.addEventListener(type, (event) => event.stopPropagation());
  }
  shadow.append(dialog);
  const fill = async () => {
    const nonprofit = await nonprofitOf(place);
    if (typeof nonprofit === "string") {
      warn(`no gift to "${place.slug}": ${nonprofit}`);
      return content.replaceChildren(el("p", {}, [nonprofit]), elsewhere(place));
    }
    title.textContent = text("give", { name: nonprofit.name });
    const payable = nonprofit.status !== "withdrawn" && nonprofit.usdc_wallet !== undefined;
    if (!payable) {
      warn(`no gift to "${place.slug}": no wallet`);
      return content.replaceChildren(...otherWays(nonprofit, text), elsewhere(place));
    }
    const { nodes, panel } = paymentParts(place, nonprofit.usdc_wallet ?? "");
    content.replaceChildren(...nodes, elsewhere(place));
    stop = () => panel.stop();
    await panel.show();
  };
  return () => {
    dialog.showModal();
    void fill();
  };
}

/** Tells the page's developers in the console why something is missing. */
// oxlint-disable-next-line no-console
export const warn = (why: string): void => console.warn(`almoner widget: ${why}`);

/** The profile, or a text that says why there is none. */
async function nonprofitOf({ directory, slug, text }: Place): Promise<NonprofitDetail | string> {
  try {
    const answer = await fetch(`${directory}/api/nonprofits/${slug}`, {
      signal: AbortSignal.timeout(15_000),
    });
    if (answer.status === 404) return text("unknown");
    if (!answer.ok) throw new Error(`the directory answered ${answer.status}`);
    return (await answer.json()) as NonprofitDetail;
  } catch {
    // The network or the directory is down, or the page's policy blocks requests to the directory.
    return text("unreachable", { host: new URL(directory).host });
  }
}

function otherWays({ ways_to_give: [way] }: NonprofitDetail, text: Say): Node[] {
  const link = safeLink(way?.url ?? null);
  if (way === undefined || link === null) return [el("p", {}, [text("no_way")])];
  return [
    el("p", {}, [awayLink(link, way.kind === "service" ? way.label : text(way.kind), "main")]),
  ];
}

/** A link to the directory's own page, which always works. */
function elsewhere({ directory, slug, amount, prefix, text }: Place): HTMLElement {
  const query = new URLSearchParams({ amount });
  const { host } = new URL(directory);
  return el("p", { class: "small" }, [
    awayLink(`${directory}${prefix}/donate/${slug}?${query}#pay`, text("elsewhere", { host })),
  ]);
}

function paymentParts(place: Place, wallet: string) {
  const { directory, slug, amount: first, prefix, text } = place;
  const amount = el("input", {
    id: "amount",
    inputmode: "decimal",
    autocomplete: "off",
    value: first,
  });
  const presets = suggestedUsdc.map((value) => el("button", { type: "button", value }, [value]));
  const ask = el("form", {}, [
    el("label", { for: "amount" }, [text("amount")]),
    el("div", { class: "presets", role: "group", "aria-label": text("presets") }, presets),
    el("div", { class: "field" }, [amount, el("button", { class: "main" }, [text("show")])]),
  ]);
  const notice = el("p", { class: "notice", role: "note", hidden: true });
  const qr = el("div", { class: "qr" });
  const walletLink = el("a", { class: "main", href: `${directory}${prefix}/donate/${slug}` }, [
    text("open"),
  ]);
  const network = el("p", { class: "small" });
  const payment = el("div", { hidden: true }, [
    qr,
    el("p", {}, [walletLink]),
    el("p", {}, [text("straight"), el("code", {}, [wallet])]),
    network,
  ]);
  const status = el("p", { class: "found", role: "status" });
  const again = el("button", { type: "button", class: "plain", hidden: true }, [text("again")]);
  const panel = openPanel(
    { ask, amount, presets, payment, qr, walletLink, status, again },
    {
      service: openGivingService(directory, slug),
      text,
      wallet,
      onRequirements: ({ cluster }) => {
        notice.textContent = text(`notice_${cluster}`);
        notice.hidden = notice.textContent === "";
        network.textContent = text("network", { network: text(`name_${cluster}`) });
      },
      afterwards: ({ donation_id }) => {
        const query = new URLSearchParams({ nonprofit: slug, id: donation_id });
        return [awayLink(`${directory}${prefix}/receipt?${query}`, text("receipt"))];
      },
    },
  );
  return { nodes: [notice, ask, payment, status, again], panel };
}

/**
 * A constructed style sheet: a page's policy that blocks style elements allows it. `!important` on the host overrides every
 * rule of the page, even important ones.
 */
export function shadowStyles(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  return sheet;
}

const rules = `
:host { all: initial !important; display: inline-block !important; direction: ltr !important; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button, input, a, dialog { font: 16px/1.5 system-ui, sans-serif; }
:focus-visible { outline: 3px solid #2f8f78; outline-offset: 2px; }
.open, .main { background: #14584a; border: 0; border-radius: 6px; color: #fff; cursor: pointer; display: inline-block;
  font-weight: 600; padding: .5em 1.2em; text-decoration: none; }
dialog { background: #fff; border: 0; border-radius: 10px; color: #1c2321; max-height: 92vh; max-width: 24em; overflow: auto;
  padding: 1.25em; width: 92vw; }
dialog::backdrop { background: rgb(0 0 0 / .55); }
header { align-items: start; display: flex; gap: 1em; justify-content: space-between; }
h2 { font-size: 1.2em; line-height: 1.3; margin: 0 0 .6em; overflow-wrap: anywhere; }
p { margin: 0 0 .8em; overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin-bottom: .3em; }
.presets, .field { display: flex; flex-wrap: wrap; gap: .5em; margin-bottom: .6em; }
.presets button, .plain { background: #fff; border: 1px solid #56605c; border-radius: 6px; color: inherit; cursor: pointer;
  padding: .25em .9em; }
.presets [aria-pressed="true"] { border-color: #14584a; box-shadow: inset 0 0 0 1px #14584a; }
input { border: 1px solid #56605c; border-radius: 6px; background: #fff; color: inherit; flex: 1; min-width: 0; padding: .4em .7em; }
.notice { background: #fdf1d8; border-left: 4px solid #b07a15; padding: .6em .8em; }
.qr svg { display: block; height: auto; margin: 0 auto 1em; max-width: 100%; }
.found { font-weight: 600; }
.found:empty { display: none; }
code { font: .85em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.small { color: #56605c; font-size: .9em; }
a { color: #14584a; }
a.main { color: #fff; }
`;
