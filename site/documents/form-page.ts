import type { FormPage } from "#content/contract/form-pages.ts";
import { correctionView } from "#site/forms/correction-view.ts";
import { onboardView } from "#site/forms/onboard-view.ts";
import { refusalView } from "#site/forms/refusal-view.ts";
import { correctionStatusView, onboardingStatusView } from "#site/forms/status-view.ts";
import { type Drawing, drawn } from "./in-languages.ts";

/** A page of a form, of what became of it, or of a refusal, as HTML. */
export const drawnForm = (drawing: Drawing, asked: FormPage): Promise<string | Uint8Array> =>
  drawn(drawing, asked.page, { view: viewOf(asked) });

const unasked = { step: "find", q: null, total: 0, found: [] } as const;
const unknown = { status: null, secret: "", code: "", said: null, usualDays: null } as const;

/** The forms as they stand in the bundle: nothing is known of their readers. */
export const emptyForms = {
  onboard: () => ({ view: onboardView({ page: "/onboard", ...unasked }) }),
  onboardStatus: () => ({ view: onboardingStatusView({ page: "/onboard/status", ...unknown }) }),
  corrections: () => ({ view: correctionView({ page: "/corrections", ...unasked }) }),
  correctionStatus: () => ({
    view: correctionStatusView({ page: "/corrections/status", ...unknown }),
  }),
};

function viewOf(asked: FormPage) {
  if (asked.page === "/onboard") return onboardView(asked);
  if (asked.page === "/corrections") return correctionView(asked);
  if (asked.page === "/onboard/status") return onboardingStatusView(asked);
  if (asked.page === "/corrections/status") return correctionStatusView(asked);
  return refusalView(asked);
}
