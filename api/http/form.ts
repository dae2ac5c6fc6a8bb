import { addressesWhere } from "#content/language/address-pattern.ts";
import { tableText } from "#content/reconciliation/table.ts";
import { formFields, isForm, readBody } from "./body.ts";
import type { FormPage } from "#content/contract/form-pages.ts";
import type { PageForm } from "./headers.ts";
import { Refused } from "./problem.ts";

const formAddresses = addressesWhere(({ takes }) => takes === "form");
/** Whether a form comes to this path: other routes take JSON alone. */
export const takesForm = (path: string): boolean => formAddresses.test(path);

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

/** How the site draws a page that is of one reader and one moment: no cache keeps it. `status`: 200 unless given. */
export type DrawForm = {
  form(page: FormPage, form: PageForm, status?: number): Promise<Response>;
};

/** Absent: no site is compiled beside the service. */
export type Drawing = { draw?: DrawForm | undefined };

/** The texts of a form, or of JSON that was sent in its place. */
export const valuesIn = (body: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(body ?? {}).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );
