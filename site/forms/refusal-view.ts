import refusals from "#content/editorial/refusals.json";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import type { Texts } from "#content/language/texts.ts";
import { inEnglish } from "./form-view.ts";

type Words = { title: string; text: string };
const byStatus: Readonly<Record<string, Words>> = refusals;

/** What a person reads whose request was refused; the words of the API are shown where only they say what is wrong. */
export function refusalView({ status, detail, waitS, sent }: FormPageOf<"/refusal">, t: Texts) {
  // The address of what was sent is the form's, and right.
  const shown = sent && status === 400 ? 409 : status;
  const { title, text } = byStatus[String(shown)] ?? refusals.other;
  return {
    title: t.word(title),
    text: t.word(text),
    detail: exact.has(status) ? inEnglish(t, detail) : null,
    wait: waitS === null ? null : waited(waitS, t),
    sent,
  };
}
const exact: ReadonlySet<number> = new Set([400, 409, 415, 422]);

const waited = (seconds: number, t: Texts): string =>
  seconds > 90
    ? t.text("refusal.wait_minutes", { count: Math.ceil(seconds / 60) })
    : t.text("refusal.wait_seconds", { count: seconds });
