import { formFields, isForm } from "./body.ts";

// Forms of the site as browsers without a script send them. Source: docs/decisions/0064.

/** Whether a form comes to this path: other routes take JSON alone. */
export const takesForm = (path: string): boolean =>
  path === "/api/onboard" || path.startsWith("/api/corrections/");

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
