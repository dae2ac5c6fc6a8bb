import type { FormPage } from "#content/contract/form-pages.ts";
import { refusalView } from "#site/parts/refusal-view.ts";
import type { Drawing } from "./list-page.ts";

/** A page of a form, of what became of it, or of a refusal, as HTML. */
export function drawnForm(
  { renderer, baseUrl, network }: Drawing,
  asked: FormPage,
): Promise<Uint8Array> {
  return renderer.render(asked.page, { baseUrl, network, view: viewOf(asked) });
}

function viewOf(asked: FormPage) {
  return refusalView(asked);
}
