import type { Context } from "#api/context.ts";
import { formFields, isForm } from "#api/http/body.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { Refused } from "#api/http/problem.ts";
import { addressOf } from "#content/contract/base/request-address.ts";
import deskForms from "#content/editorial/desk-forms.json";

/** What proves that a form came from this session's page. */
export const tokenField = (token: string): Html =>
  html`<input type="hidden" name="token" value="${token}" />`;

type Field = {
  name: string;
  id?: string;
  label: Part;
  value?: string | undefined;
  /** Given for a text of several lines. */
  rows?: number;
  required?: boolean;
  lengthMax?: number;
  /** Leads there together with the browser's own key. */
  key?: string | undefined;
};

export function field(given: Field): Html {
  const { name, id = name, label, value = "", rows, required = false, lengthMax, key } = given;
  const attributes = [
    html` id="${id}" name="${name}" dir="auto"`,
    keyOf(key),
    lengthMax === undefined ? null : html` maxlength="${lengthMax}"`,
    required ? html` required` : null,
  ];
  // A line break after <textarea> is no part of its text; without one, a text that begins with one would lose it.
  const control =
    rows === undefined
      ? html`<input type="text" value="${value}" ${attributes} />`
      : html`<textarea rows="${rows}" ${attributes}>${`\n${value}`}</textarea>`;
  return html`<label for="${id}">${label}${keyHint(key)}</label>${control}`;
}

/** Which nonprofit is meant. */
export const slugField = (given: Omit<Field, "name" | "required"> & { name?: string }): Html =>
  field({ name: "slug", required: true, lengthMax: 200, ...given });

/** Why something is decided: what every decision is asked for, unless it is not required. */
export const reasonField = (given: Omit<Field, "name" | "lengthMax">): Html =>
  field({ name: "reason", required: true, lengthMax: 500, ...given });

const keyOf = (key: string | undefined): Part =>
  key === undefined ? null : html` accesskey="${key}"`;

const keyHint = (key: string | undefined): Part =>
  key === undefined ? null : html` <kbd>${key}</kbd>`;

/** What a form says, and how its button looks; `key` presses it together with the browser's own key. */
type FormWords = {
  legend?: string;
  about?: string;
  /** Asked for last. */
  reason?: Parameters<typeof reasonField>[0];
  button: string;
  key?: string;
  danger?: boolean;
};
const formWords: Readonly<Record<keyof typeof deskForms, FormWords>> = deskForms;

type FormShown = {
  name: keyof typeof deskForms;
  action: string;
  token: string;
  /** In place of that of the words. */
  legend?: string;
  hidden?: Readonly<Record<string, string>>;
  fields?: Part;
  /** The reason as it was typed. */
  reason?: string | undefined;
};

export const form = ({ name, action, token, hidden = {}, fields, ...given }: FormShown): Html => {
  const { about, reason, button, key, danger = false, ...words } = formWords[name];
  const look = danger ? html` class="danger"` : null;
  return html`<form method="post" action="${action}">
    <fieldset>
      <legend>${given.legend ?? words.legend}</legend>
      ${tokenField(token)}
      ${Object.entries(hidden).map(([one, value]) => html`<input type="hidden" name="${one}" value="${value}" />`)}
      ${about === undefined ? null : html`<p>${about}</p>`} ${fields}
      ${reason === undefined ? null : reasonField({ ...reason, value: given.reason })}
      <button ${[look, keyOf(key)]}>${button}${keyHint(key)}</button>
    </fieldset>
  </form>`;
};

/** The fields of a form; a repeated one counts once, the first. Line breaks are "\n". */
export type Form = Awaited<ReturnType<typeof formOf>>;

export const typedText = (typed: Form | null, name: string, stored: string): string =>
  typed?.has(name) === true ? typed.text(name) : stored;

/** The lines of a field in which each stands for an entry; empty ones are none. */
export const linesOf = (text: string): string[] =>
  text.split("\n").flatMap((line) => line.trim() || []);

/** Reads a form as browsers send it. Throws Refused: 415 for another content type, 413 above 64 KiB. */
export async function formOf(request: Request) {
  if (!isForm(request.headers.get("content-type"))) {
    const detail = "The desk takes forms as browsers send them.";
    throw new Refused({ status: 415, code: "no_form", detail });
  }
  const fields = await formFields(request);
  return {
    /** A field, trimmed; "" when it is absent. */
    text: (name: string): string => fields.get(name) ?? "",
    has: (name: string): boolean => fields.has(name),
    /** What is ticked of the boxes `<name>.<what>`. */
    ticked: (name: string): string[] =>
      [...fields.keys()].flatMap((one) =>
        one.startsWith(`${name}.`) ? one.slice(name.length + 1) : [],
      ),
  };
}

/**
 * Whether a form was sent by a page of this very origin, as far as the browser says: by Sec-Fetch-Site, and by Origin,
 * which is the configured one or that of the host that was asked. Beside the form's token, not in its place.
 */
export function isOwnOrigin({ config }: Pick<Context, "config">, request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  const host = request.headers.get("host") ?? addressOf(request).host;
  return [config.baseUrl, `http://${host}`, `https://${host}`].includes(origin);
}
