import { type FormPage, unknownStatus } from "#content/contract/form-pages.ts";
import { english, type Texts } from "#content/language/texts.ts";

import { correctionView, onboardView } from "#site/forms/form-view.ts";
import {
  correctionStatusView,
  onboardingStatusView,
  refusalView,
} from "#site/forms/status-view.ts";
import type { BuildInputs } from "#site/parts/page-head.ts";
import { type Drawing, renderPage } from "./document.ts";

/** Renders the page of a form, of a request's status, or of a refusal. */
export const renderForm = (drawing: Drawing, page: FormPage): Promise<string | Uint8Array> =>
  renderPage(drawing, page.page, { view: viewOf(page, drawing.t ?? english) });

const unasked = { step: "find", q: null, total: 0, found: [] } as const;

/** The forms in the bundle: they know nothing about their reader. */
export const emptyForms = {
  onboard: ({ t = english }: BuildInputs) => ({
    view: onboardView({ page: "/onboard", ...unasked }, t),
  }),
  onboardStatus: ({ t = english }: BuildInputs) => ({
    view: onboardingStatusView(
      { page: "/onboard/status", code: "", mails: false, ...unknownStatus },
      t,
    ),
  }),
  corrections: ({ t = english }: BuildInputs) => ({
    view: correctionView({ page: "/corrections", ...unasked }, t),
  }),
  correctionStatus: ({ t = english }: BuildInputs) => ({
    view: correctionStatusView({ page: "/corrections/status", name: "", ...unknownStatus }, t),
  }),
};

function viewOf(page: FormPage, t: Texts) {
  if (page.page === "/onboard") return onboardView(page, t);
  if (page.page === "/corrections") return correctionView(page, t);
  if (page.page === "/onboard/status") return onboardingStatusView(page, t);
  if (page.page === "/corrections/status") return correctionStatusView(page, t);
  return refusalView(page, t);
}
