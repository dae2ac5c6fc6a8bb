import { addressOf } from "#content/contract/base/request-address.ts";
import type { Context } from "#api/context.ts";
import { formFields, isForm } from "#api/http/body.ts";
import { Refused } from "#api/http/problem.ts";

/** The fields of a form; a repeated one counts once, the first. Line breaks are "\n". */
export type Form = {
  /** A field, trimmed; "" when it is absent. */
  readonly text: (name: string) => string;
  readonly has: (name: string) => boolean;
  /** What is ticked of the boxes `<name>.<what>`. */
  readonly ticked: (name: string) => string[];
};

/** The lines of a field in which each stands for an entry; empty ones are none. */
export const linesOf = (text: string): string[] =>
  text.split("\n").flatMap((line) => line.trim() || []);

/** Reads a form as browsers send it. Throws Refused: 415 for another content type, 413 above 64 KiB. */
export async function formOf(request: Request): Promise<Form> {
  if (!isForm(request.headers.get("content-type"))) {
    const detail = "The desk takes forms as browsers send them.";
    throw new Refused({ status: 415, code: "no_form", detail });
  }
  const fields = await formFields(request);
  return {
    text: (name) => fields.get(name) ?? "",
    has: (name) => fields.has(name),
    ticked: (name) =>
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
