import { tableText } from "#content/reconciliation/table.ts";
import { formFields, isForm, readBody } from "./body.ts";
import { Refused } from "./problem.ts";

// Forms of the site as browsers without a script send them. Source: docs/decisions/0064.

/** Whether a form comes to this path: other routes take JSON alone. */
export const takesForm = (path: string): boolean =>
  path === "/api/onboard" || path === "/reconcile" || path.startsWith("/api/corrections/");

/** Whether a table comes to this path, as a file in a form or by itself. */
export const takesTable = (path: string): boolean => path === "/reconcile/csv";

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

/** To the status page: the browser keeps the link in its address. Relative, whatever name the directory was asked by. */
export const seeStatus = ({
  message,
  status_url,
}: {
  message: string;
  status_url: string | null;
}): Response => {
  if (status_url === null) return plain({ status: 200, detail: message });
  const location = status_url.slice(new URL(status_url).origin.length);
  return new Response(null, { status: 303, headers: { location } });
};

/** A sentence for a person, as text: nothing in it is ever taken for markup. */
export const plain = ({ status, detail }: { status: number; detail: string }): Response => {
  const back = status === 200 ? "" : "\n\nGo back and correct it: what you typed is still there.";
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return new Response(`${detail}${back}\n`, { status, headers });
};
