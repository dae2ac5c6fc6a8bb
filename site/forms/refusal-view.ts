import refusals from "#content/editorial/refusals.json";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import type { Texts } from "#content/language/texts.ts";
import { inEnglish } from "./form-view.ts";

type Words = { title: string; text: string };
const byKind: Readonly<Record<string, Words>> = refusals;

/** What a person reads whose request was refused; the words of the API are shown where only they say what is wrong. */
export function refusalView(
  { status, code, detail, waitS, sent }: FormPageOf<"/refusal">,
  t: Texts,
) {
  // The address of what was sent is the form's, and right.
  const shown = sent && status === 400 ? 409 : status;
  const unnamed = status < 500 ? refusals["409"] : refusals.other;
  const { title, text } = byKind[code] ?? byKind[String(shown)] ?? unnamed;
  return {
    title: t.word(title),
    text: t.word(text),
    detail: exact.has(status) ? inEnglish(t, detail) : null,
    wait: waitS === null ? null : waited(waitS, t),
    sent,
    stored: sent ? t.text(isUnclear(status) ? "refusal.maybe_stored" : "refusal.not_stored") : null,
  };
}
const exact: ReadonlySet<number> = new Set([400, 409, 422]);

/** Whether it may have been stored all the same: what is busy or full says so before it stores. */
const isUnclear = (status: number): boolean => status >= 500 && status !== 503 && status !== 507;

const waited = (seconds: number, t: Texts): string =>
  seconds > 90
    ? t.text("refusal.wait_minutes", { count: Math.ceil(seconds / 60) })
    : t.text("refusal.wait_seconds", { count: seconds });
