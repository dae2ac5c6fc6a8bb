import type { Address } from "#content/contract/addresses.ts";
import { addressesWhere } from "#content/language/address-pattern.ts";
import { pathIn } from "#content/language/texts.ts";
import { tableText } from "#content/reconciliation/table.ts";
import { formFields, isForm, readBody } from "./body.ts";
import type { FormPage, Said, SentForm } from "#content/contract/form-pages.ts";
import { formOf, type PageForm } from "./headers.ts";
import { noPages, problem, Refused, type Refusal } from "./problem.ts";

// Forms of the site as browsers without a script send them. Source: docs/decisions/0064.

const formAddresses = addressesWhere(({ takes }) => takes === "form");
/** Whether a form comes to this path: other routes take JSON alone. */
export const takesForm = (path: string): boolean => formAddresses.test(path);

/** Where a browser goes that opens by itself the address to which the form of a page is sent: it has nothing to send. */
export const toPage = ({ path }: Address, request: Request): Response => {
  const location = pathIn(formOf(request).language, path);
  return new Response(null, { status: 303, headers: { location } });
};

const tableAddresses = addressesWhere(({ takes }) => takes === "table");
/** Whether a table comes to this path, as a file in a form or by itself. */
export const takesTable = (path: string): boolean => tableAddresses.test(path);

/** A table of at most 64 KiB: CSV itself, or the field `table` of a form. Throws Refused. */
export async function tableBody(request: Request): Promise<{ table: string }> {
  const type = request.headers.get("content-type") ?? "";
  const bytes = new Uint8Array(await readBody(request));
  if (/^text\/(?:csv|plain|tab-separated-values)\b/i.test(type)) return { table: tableText(bytes) };
  try {
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    const given = form.get("table") ?? "";
    const table = typeof given === "string" ? given : tableText(await given.arrayBuffer());
    return { table };
  } catch (cause) {
    const detail =
      "Send CSV with Content-Type: text/csv, or as the field `table` of a form (multipart/form-data).";
    throw new Refused({ status: 415, code: "not_csv", detail }, { cause });
  }
}

export const isSentByForm = (request: Request): boolean =>
  isForm(request.headers.get("content-type"));

/** The fields of a form as a body. */
export const formBody = async (request: Request): Promise<Record<string, string>> =>
  Object.fromEntries(await formFields(request));

/** What a form is answered with that was taken: the link of its status page, null where the first sender has it. */
type Taken = { message: string; status_url: string | null };

/** How a page of the site is made for the sender of a form. */
export type FormPages = {
  draw: Drawing["draw"];
  /** The page of the status, for a sender who gets no link. */
  status: (said: Said) => FormPage;
  /** The form again, with what was sent; null where there is none to show. */
  again: (sent: SentForm) => Promise<FormPage | null>;
};

/** How the site draws a page that is of one reader and one moment: no cache keeps it. `status`: 200 unless given. */
export type DrawForm = {
  form(page: FormPage, form: PageForm, status?: number): Promise<Response>;
};

/** Absent: no site is compiled beside the service. */
export type Drawing = { draw?: DrawForm | undefined };

/**
 * Answers a form as a person expects, in the language of its page: with the status page, whose address then keeps the link
 * (relative, whatever name the directory was asked by), or with the form again, what is wrong, and all that was typed.
 */
export async function answerForm(
  { draw, status, again }: FormPages,
  { request, values }: { request: Request; values: Readonly<Record<string, string>> },
  outcome: { taken: Taken } | { refusal: Refusal },
): Promise<Response> {
  const form = formOf(request);
  if ("taken" in outcome) {
    const { status_url } = outcome.taken;
    if (status_url === null) {
      const page = status({ kind: "waits_already", detail: null });
      return draw?.form(page, form) ?? Response.json(outcome.taken);
    }
    const path = status_url.slice(new URL(status_url).origin.length);
    const location = pathIn(form.language, path);
    return new Response(null, { status: 303, headers: { location } });
  }
  const { status: code, errors, ...refusal } = outcome.refusal;
  if (draw === undefined) return problem(outcome.refusal);
  const sent = { values, wrongs: errors ?? [], refusal: errors === undefined ? refusal : null };
  const page = await again(sent);
  return page === null ? problem(outcome.refusal) : draw.form(page, form, code);
}

/** A page of a form, where there is a site to draw it. */
export const drawnForm = async (
  { draw }: Drawing,
  request: Request,
  page: FormPage,
  status = 200,
): Promise<Response> => draw?.form(page, formOf(request), status) ?? noPages();

/** What is said to a link of a status page that no one was given. */
export const unknownLink: Said = { kind: "unknown_link", detail: null };

/** The texts of a form, or of JSON that was sent in its place. */
export const valuesIn = (body: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(body ?? {}).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );

/** The secret in the link of a status page, and behind it the code of a link that came by mail; "" for none. */
export function secretsIn(link: string): { token: string; code: string } {
  const [, token = "", code = ""] =
    /(?:^|#)([\w-]{43})(?:\.([\w.-]{1,200}))?$/.exec(link.trim()) ?? [];
  return { token, code };
}
