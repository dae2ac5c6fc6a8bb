import refusals from "#content/editorial/refusals.json";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import { counted } from "#site/parts/words.ts";

type Words = { title: string; text: string };
const byStatus: Readonly<Record<string, Words>> = refusals;

/** What a person reads whose request was refused; the words of the API are shown where only they say what is wrong. */
export function refusalView({ status, detail, waitS, sent }: FormPageOf<"/refusal">) {
  const { title, text } = byStatus[String(status)] ?? refusals.other;
  return {
    title,
    text,
    detail: exact.has(status) ? detail : null,
    wait: waitS === null ? null : `Try again in ${waited(waitS)}.`,
    sent,
  };
}
const exact: ReadonlySet<number> = new Set([400, 409, 415, 422]);

const waited = (seconds: number): string =>
  seconds > 90
    ? counted(Math.ceil(seconds / 60), "minute", "minutes")
    : counted(seconds, "second", "seconds");
