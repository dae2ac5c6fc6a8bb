import { z } from "zod";
import type { Context } from "#api/context.ts";
import { formFields, isSentByForm } from "#api/http/body.ts";
import { placeWith } from "#api/http/query.ts";
import { type Html, html, type Part } from "#content/language/html.ts";
import { RefusalError } from "#api/http/problem.ts";
import { type Action, actions, paramsIn, typedValue } from "#api/operator/actions.ts";
import { addressOf } from "#content/contract/base/request.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import deskForms from "#content/editorial/desk-forms.json";

/** The hidden field that proves that a form came from a page of this session. */
export const tokenField = (token: string): Html =>
  html`<input type="hidden" name="token" value="${token}" />`;

type Field = {
  name: string;
  id?: string;
  label: Part;
  value?: string | undefined;
  /** Set for a text of several lines. */
  rows?: number | undefined;
  required?: boolean;
  lengthMax?: number;
  /** The field's accesskey. */
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
  // Browsers drop a line break directly after <textarea>, so one is added to keep one in the text.
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

/** How a form asks for a member of its action. */
type MemberWords = Omit<Field, "name" | "value"> & {
  /** The name of the field; by default the member's. */
  name?: string;
  /** The value of a box that is ticked. */
  ticked?: boolean;
  /** Placed after all members without words of their own. */
  last?: boolean;
};

type FormWords = {
  /** The path of the page that takes the form. Parameters of the action's path that it lacks get a field. */
  path: string;
  /** Hidden fields, which distinguish the forms of one path. */
  hidden?: Readonly<Record<string, string>>;
  legend?: string;
  about?: string;
  /** How the form asks for a reason, if different from other forms. */
  reason?: Partial<MemberWords>;
  buttons: readonly { text: string; key?: string; danger?: boolean; decision?: string }[];
  /** Shown for a form that cannot be used, in place of the faults of each field. */
  unusable?: string;
};

/** Each form of the desk has the name of its action. */
export type FormName = keyof typeof deskForms.forms;
export const formWords: Readonly<Record<FormName, FormWords>> = deskForms.forms;

/** A list has one entry per line, or commas in a field of one line. */
const memberWords: Readonly<Record<string, MemberWords | undefined>> = deskForms.fields;

/** The fields of a form: all members of the action's path and body that have words. */
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

/** The page that shows a form: its session token and parameters, and the form that was sent to it. */
type FormPage = {
  readonly token: string;
  readonly params: Readonly<Record<string, string>>;
  readonly form: Form | null;
};

/** The values typed into this form; null if another form, or none, was sent. */
export const typedInto = (name: FormName, { form: sent }: FormPage): Form | null =>
  sent?.name === name ? sent : null;

type Special = {
  /** Replaces the standard legend. */
  legend?: string;
  hidden?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | undefined>>;
  /** Initial values of the fields. */
  stored?: Readonly<Record<string, string | null>>;
  /** The stored texts in the fields, so that no one overwrites a change unseen. */
  shownTexts?: readonly StoredText[];
  /** Shown before everything else. */
  before?: Part;
  /** Further fields, which are no members of the action. */
  fields?: Part;
  /** The decision for which there is no button. */
  without?: string | null;
};

export const form = (name: FormName, page: FormPage, special: Special = {}): Html => {
  const { path, about, buttons, hidden, legend } = formWords[name];
  const { stored = {}, query = {}, shownTexts = [], before, fields, without } = special;
  const sentForm = typedInto(name, page);
  const place = path.replaceAll(/:(\w+)/g, (_, param: string) =>
    encodeURIComponent(page.params[param] ?? ""),
  );
  const control = ({ member, words }: ReturnType<typeof membersOf>[number]): Html => {
    if (words.ticked === undefined) {
      return field({ ...words, value: typedText(sentForm, words.name, stored[member] ?? "") });
    }
    const checked = sentForm?.text(words.name) === "1" ? html` checked` : null;
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
      ${Object.entries({ ...shownDigests(shownTexts), ...special.hidden, ...hidden }).map(([member, value]) => html`<input type="hidden" name="${member}" value="${value}" />`)}
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

/** Identifies the form that was sent to a path by its hidden fields; null for none. */
export const formSent = (names: readonly FormName[], { text }: Form): FormName | null =>
  names.find((name) =>
    Object.entries(formWords[name].hidden ?? {}).every(([member, value]) => text(member) === value),
  ) ?? null;

/** The input of a form's action, from the parameters of its page and its fields. */
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

/** The fields of a form, with "\n" as line break. Of a repeated field the first counts. */
export type Form = Awaited<ReturnType<typeof formOf>>;

/** A field for something stored: its name in the form, and its text as it is stored now. */
export type StoredText = { name: string; text: string };

/** A text as browsers send it. */
const asSent = (text: string): string => text.replaceAll(/\r\n?/g, "\n").trim();
const digestOf = (text: string): string => sha256Of(asSent(text), "base64url").slice(0, 22);

const shownName = (name: string): string => `shown.${name}`;

/** Hidden fields with digests of the texts that a form shows, which tell what was typed from what changed meanwhile. */
const shownDigests = (texts: readonly StoredText[]): Record<string, string> =>
  Object.fromEntries(texts.map(({ name, text }) => [shownName(name), digestOf(text)]));

/** The digest of the text that a field showed; a form that does not say showed the present text. */
const shownBy = (sent: Form, { name, text }: StoredText): string =>
  sent.text(shownName(name)) || digestOf(text);

/** Whether a field was sent with another text than it had shown. */
export const isTyped = (sent: Form, stored: StoredText): boolean =>
  sent.has(stored.name) && digestOf(sent.text(stored.name)) !== shownBy(sent, stored);

/** Fields with a typed text whose stored text has changed to a third one since the form showed it. */
export const conflictsIn = (texts: readonly StoredText[], sent: Form): StoredText[] =>
  texts.filter(
    (stored) =>
      isTyped(sent, stored) &&
      shownBy(sent, stored) !== digestOf(stored.text) &&
      sent.text(stored.name) !== asSent(stored.text),
  );

const typedText = (typed: Form | null, name: string, stored: string): string =>
  typed !== null && isTyped(typed, { name, text: stored }) ? typed.text(name) : stored;

/** The non-empty lines of a field with one entry per line. */
export const linesOf = (text: string): string[] =>
  text.split("\n").flatMap((line) => line.trim() || []);

/** A member that can be edited: its present text, and how to read a typed one. */
export type EditedMember = Omit<Field, "value"> & {
  text: string;
  read: (typed: string) => unknown;
};

const nameOf = ({ name }: Pick<Field, "name">): string => `value.${name}`;

/** The texts of members as a form holds them. */
export const storedTexts = (members: readonly EditedMember[]): StoredText[] =>
  members.map((member) => ({ name: nameOf(member), text: member.text }));

/** The fields for editing, with the present values or the typed ones. */
export const editedFields = (members: readonly EditedMember[], typed: Form | null): Html[] =>
  members.map((member) => {
    const name = nameOf(member);
    const value = typedText(typed, name, member.text);
    return field({ ...member, name, value, lengthMax: 10_000 });
  });

/** The typed value of each member, and whether it has changed. */
export const editedIn = (members: readonly EditedMember[], sent: Form) =>
  members.map((member) => {
    const text = asSent(member.text);
    const typed = typedText(sent, nameOf(member), text);
    return { name: member.name, value: member.read(typed), isChanged: typed !== text };
  });

/** Reads a form as browsers send it. Throws RefusalError: 415 for another content type, 413 above 64 KiB. */
export async function formOf(request: Request) {
  if (!isSentByForm(request)) {
    const detail = "The desk takes forms as browsers send them.";
    throw new RefusalError({ status: 415, code: "no_form", detail });
  }
  const fields = await formFields(request);
  return {
    /** The form's name, once it is known. */
    name: null as FormName | null,
    /** A field, trimmed; "" when it is absent. */
    text: (name: string): string => fields.get(name) ?? "",
    has: (name: string): boolean => fields.has(name),
    /** The names of the ticked boxes `<name>.<what>`. */
    ticked: (name: string): string[] =>
      [...fields.keys()].flatMap((key) =>
        key.startsWith(`${name}.`) ? key.slice(name.length + 1) : [],
      ),
  };
}

/**
 * Whether a form was sent by a page of this origin, according to the browser: by Sec-Fetch-Site, and by Origin, which must
 * be the configured one or that of the Host. Checked in addition to the form's token.
 */
export function isOwnOrigin({ config }: Pick<Context, "config">, request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  const host = request.headers.get("host") ?? addressOf(request).host;
  return [config.baseUrl, `http://${host}`, `https://${host}`].includes(origin);
}
