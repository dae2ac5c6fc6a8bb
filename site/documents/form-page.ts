import type { FormPage } from "#content/contract/form-pages.ts";
import { refusalView } from "#site/parts/refusal-view.ts";
import { type Drawing, drawn } from "./in-languages.ts";

/** A page of a form, of what became of it, or of a refusal, as HTML. */
export const drawnForm = (drawing: Drawing, asked: FormPage): Promise<string | Uint8Array> =>
  drawn(drawing, asked.page, { view: refusalView(asked) });
