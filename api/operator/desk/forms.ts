import { z } from "zod";
import type { Context } from "#api/context.ts";
import { formFields, isForm } from "#api/http/body.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { Refused } from "#api/http/problem.ts";
import { type Action, actions } from "#api/operator/actions.ts";
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
  /** accesskey of the field. */
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

/** Texts of a form, and the accesskey of its button. */
type FormWords = {
  legend?: string;
  about?: string;
  /** Asked for last. */
  reason?: Parameters<typeof reasonField>[0];
  button: string;
  key?: string;
  danger?: boolean;
  /** What is said of a form that cannot be used, in place of what is wrong with each field. */
  unusable?: string;
};
type FormName = keyof typeof deskForms.forms;
export const formWords: Readonly<Record<FormName, FormWords>> = deskForms.forms;

/** The action that each form does. */
export const formActions = {
  edit_profile: actions.editProfile,
  withdraw: actions.withdrawProfile,
  merge: actions.mergeProfile,
  restore: actions.restoreProfile,
  add_pick: actions.addPick,
  edit_pick: actions.editPick,
  remove_pick: actions.removePick,
  undo_agent: actions.revertAgent,
  undo_verification: actions.revokeVerification,
  check_host: actions.checkHostControl,
  approve: actions.approveReview,
  reject: actions.rejectReview,
} as const satisfies Record<FormName, unknown>;

/** Fields by the members of bodies that they are typed for. A list has an entry a line, or commas where it has one line. */
const fieldWords: Readonly<Record<string, Omit<Field, "name"> | undefined>> = deskForms.fields;

/** The members of an action's body that have a field, each with its shape and words. */
const fieldsOf = ({ operation }: Pick<Action, "operation">) =>
  Object.entries(operation.body?.shape.shape ?? {}).flatMap(([name, shape]) => {
    const words = fieldWords[name];
    return words === undefined ? [] : [{ name, shape: shape as z.ZodType, words }];
  });

type FormShown = {
  name: FormName;
  action: string;
  token: string;
  /** In place of that of the words. */
  legend?: string;
  hidden?: Readonly<Record<string, string>>;
  /** What stands in a field of the action's body. */
  textOf?: ((name: string) => string | undefined) | undefined;
  /** Fields beside those. */
  fields?: Part;
  /** The reason as it was typed. */
  reason?: string | undefined;
};

export const form = ({ name, action, token, hidden = {}, fields, ...shown }: FormShown): Html => {
  const { about, reason, button, key, danger = false, legend } = formWords[name];
  const look = danger ? html` class="danger"` : null;
  const { textOf = () => undefined } = shown;
  return html`<form method="post" action="${action}">
    <fieldset>
      <legend>${shown.legend ?? legend}</legend>
      ${tokenField(token)}
      ${Object.entries(hidden).map(([member, value]) => html`<input type="hidden" name="${member}" value="${value}" />`)}
      ${about === undefined ? null : html`<p>${about}</p>`}
      ${fieldsOf(formActions[name]).map((member) => field({ name: member.name, ...member.words, value: textOf(member.name) }))}
      ${fields} ${reason === undefined ? null : reasonField({ ...reason, value: shown.reason })}
      <button ${[look, keyOf(key)]}>${button}${keyHint(key)}</button>
    </fieldset>
  </form>`;
};

/** The body of an action as a form has it: its fields, and the reason. */
export const bodyIn = (action: Pick<Action, "operation">, { text }: Form): object => ({
  ...Object.fromEntries(
    fieldsOf(action).map(({ name, shape, words: { required = false, rows } }) => {
      const typed = text(name);
      const empty = [null, undefined].filter((value) => shape.safeParse(value).success);
      if (typed === "" && !required && empty.length > 0) return [name, empty[0]];
      return [name, valueOf(shape, typed, rows === undefined ? "," : "\n")];
    }),
  ),
  reason: text("reason"),
});

/** A text, or the entries of a list: texts or numbers. */
function valueOf(shape: z.ZodType, text: string, separator: string): unknown {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable) {
    return valueOf(shape.unwrap() as z.ZodType, text, separator);
  }
  if (!(shape instanceof z.ZodArray)) return text;
  const entries = text.split(separator);
  return shape.element instanceof z.ZodNumber
    ? entries.map(Number)
    : entries.flatMap((entry) => entry.trim() || []);
}

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
      [...fields.keys()].flatMap((key) =>
        key.startsWith(`${name}.`) ? key.slice(name.length + 1) : [],
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
