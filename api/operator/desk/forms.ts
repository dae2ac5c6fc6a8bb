import { z } from "zod";
import type { Context } from "#api/context.ts";
import { formFields, isForm } from "#api/http/body.ts";
import { placeWith } from "#api/http/query.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { RefusalError } from "#api/http/problem.ts";
import { type Action, actions, paramsIn, typedValue } from "#api/operator/actions.ts";
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
  rows?: number | undefined;
  required?: boolean;
  lengthMax?: number;
  /** accesskey of the field. */
  key?: string | undefined;
};

export function field(about: Field): Html {
  const { name, id = name, label, value = "", rows, required = false, lengthMax, key } = about;
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

const keyOf = (key: string | undefined): Part =>
  key === undefined ? null : html` accesskey="${key}"`;

const keyHint = (key: string | undefined): Part =>
  key === undefined ? null : html` <kbd>${key}</kbd>`;

/** How a member of an action is asked for. */
type MemberWords = Omit<Field, "name" | "value"> & {
  /** Of its field; the member's unless given. */
  name?: string;
  /** What a box says when it is ticked. */
  ticked?: boolean;
  /** It is asked for after all that has no words of its own. */
  last?: boolean;
};

type FormWords = {
  /** Of the page that takes it. What of the action's path it does not name has a field. */
  path: string;
  /** Sent along: by these, forms on one path are distinguished. */
  hidden?: Readonly<Record<string, string>>;
  legend?: string;
  about?: string;
  /** How its reason is asked for, where that is not said as in other forms. */
  reason?: Partial<MemberWords>;
  buttons: readonly { text: string; key?: string; danger?: boolean; decision?: string }[];
  /** What is said of a form that cannot be used, in place of what is wrong with each field. */
  unusable?: string;
};

/** Each form of the desk has the name of its action. */
export type FormName = keyof typeof deskForms.forms;
export const formWords: Readonly<Record<FormName, FormWords>> = deskForms.forms;

/** A list has an entry a line, or commas where it has one line. */
const memberWords: Readonly<Record<string, MemberWords | undefined>> = deskForms.fields;

/** What a form has fields for: of the action's path and body all that has words. */
function membersOf(name: FormName) {
  const action: Pick<Action, "operation"> = actions[name];
  const { path, reason } = formWords[name];
  const params = paramsIn(action.operation.path).filter((param) => !path.includes(`:${param}`));
  const body = Object.entries(action.operation.body?.shape.shape ?? {});
  return [...params.map((param) => [param, z.string()] as const), ...body].flatMap(
    ([member, shape]) => {
      const words = memberWords[member];
      if (words === undefined) return [];
      const special = member === "reason" ? reason : {};
      return [{ member, shape: shape as z.ZodType, words: { name: member, ...words, ...special } }];
    },
  );
}

/** The page that shows a form: where it is, and what was typed into which of its forms. */
type FormPage = {
  readonly token: string;
  readonly params: Readonly<Record<string, string>>;
  readonly form: Form | null;
};

/** What was typed into the form of this name; null on a page that shows it anew. */
export const typedInto = (name: FormName, { form: sent }: FormPage): Form | null =>
  sent?.name === name ? sent : null;

type Special = {
  /** In place of that of the words. */
  legend?: string;
  hidden?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | undefined>>;
  /** What stands in its fields before anything is typed. */
  stored?: Readonly<Record<string, string | null>>;
  /** Before all else. */
  before?: Part;
  /** Fields that the action does not name one by one. */
  fields?: Part;
  /** The decisions that it has no button for. */
  without?: string | null;
};

export const form = (name: FormName, page: FormPage, special: Special = {}): Html => {
  const { path, about, buttons, hidden, legend } = formWords[name];
  const { stored = {}, query = {}, before, fields, without } = special;
  const typed = typedInto(name, page);
  const place = path.replaceAll(/:(\w+)/g, (_, param: string) =>
    encodeURIComponent(page.params[param] ?? ""),
  );
  const control = ({ member, words }: ReturnType<typeof membersOf>[number]): Html => {
    if (words.ticked === undefined) {
      return field({ ...words, value: typedText(typed, words.name, stored[member] ?? "") });
    }
    const checked = typed?.text(words.name) === "1" ? html` checked` : null;
    return html`<label class="choice"
      ><input type="checkbox" name="${words.name}" value="1" ${checked} /> ${words.label}</label
    >`;
  };
  const members = membersOf(name);
  return html`<form method="post" action="${placeWith(place, query)}">
    ${before}
    <fieldset>
      <legend>${special.legend ?? legend}</legend>
      ${tokenField(page.token)}
      ${Object.entries({ ...special.hidden, ...hidden }).map(([member, value]) => html`<input type="hidden" name="${member}" value="${value}" />`)}
      ${about === undefined ? null : html`<p>${about}</p>`}
      ${members.filter(({ words }) => words.last !== true).map(control)} ${fields}
      ${members.filter(({ words }) => words.last === true).map(control)}
      ${buttons
        .filter(({ decision }) => decision === undefined || decision !== without)
        .map(({ text, key, danger, decision }) => {
          const value = decision === undefined ? null : html` name="decision" value="${decision}"`;
          const look = danger === true ? html` class="danger"` : null;
          return html`<button ${[value, look, keyOf(key)]}>${text}${keyHint(key)}</button>`;
        })}
    </fieldset>
  </form>`;
};

/** The form that was sent to a path, by the hidden fields of those that may be; null when none has them. */
export const formSent = (names: readonly FormName[], { text }: Form): FormName | null =>
  names.find((name) =>
    Object.entries(formWords[name].hidden ?? {}).every(([member, value]) => text(member) === value),
  ) ?? null;

/** What a form asks its action with: the address of its page, and its fields. */
export function inputIn(
  name: FormName,
  { params, form: { text } }: Pick<FormPage, "params"> & { form: Form },
): { params: Record<string, string>; body: Record<string, unknown> } {
  const body = membersOf(name).map(({ member, shape, words }) => {
    const { ticked, required = false, rows } = words;
    const typed = text(words.name);
    if (ticked !== undefined) return [member, typed === "1" ? ticked : !ticked];
    const empty = [null, undefined].filter((value) => shape.safeParse(value).success);
    if (typed === "" && !required && empty.length > 0) return [member, empty[0]];
    return [member, typedValue(shape, typed, rows === undefined ? "," : "\n")];
  });
  const pathParams = paramsIn(actions[name].operation.path).map((param) => [
    param,
    params[param] ?? text(param),
  ]);
  return { params: Object.fromEntries(pathParams), body: Object.fromEntries(body) };
}

/** The fields of a form; a repeated one counts once, the first. Line breaks are "\n". */
export type Form = Awaited<ReturnType<typeof formOf>>;

const typedText = (typed: Form | null, name: string, stored: string): string =>
  typed?.has(name) === true ? typed.text(name) : stored;

/** The lines of a field in which each stands for an entry; empty ones are none. */
export const linesOf = (text: string): string[] =>
  text.split("\n").flatMap((line) => line.trim() || []);

/** A member of what is edited: the text that stands for it now, and how what is typed in its place is sent. */
export type EditedMember = Omit<Field, "value"> & {
  text: string;
  read: (typed: string) => unknown;
};

const nameOf = ({ name }: Pick<Field, "name">): string => `value.${name}`;

/** The fields of what is edited, as it is or as it was typed. */
export const editedFields = (members: readonly EditedMember[], typed: Form | null): Html[] =>
  members.map((member) => {
    const name = nameOf(member);
    const value = typedText(typed, name, member.text);
    return field({ ...member, name, value, lengthMax: 10_000 });
  });

/** What is sent of each, and whether it is other than it was. */
export const editedIn = (members: readonly EditedMember[], sent: Form) =>
  members.map((member) => {
    const text = member.text.replaceAll(/\r\n?/g, "\n").trim();
    const typed = typedText(sent, nameOf(member), text);
    return { name: member.name, value: member.read(typed), isChanged: typed !== text };
  });

/** Reads a form as browsers send it. Throws RefusalError: 415 for another content type, 413 above 64 KiB. */
export async function formOf(request: Request) {
  if (!isForm(request.headers.get("content-type"))) {
    const detail = "The desk takes forms as browsers send them.";
    throw new RefusalError({ status: 415, code: "no_form", detail });
  }
  const fields = await formFields(request);
  return {
    /** Which it is, once that is known. */
    name: null as FormName | null,
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
