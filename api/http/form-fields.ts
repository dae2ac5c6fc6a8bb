import { readBody } from "./body.ts";

/** Whether a body is a form as browsers without a script send it. */
export const isForm = (contentType: string | null): boolean =>
  /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? "");

/**
 * The fields of a form, trimmed, with "\n" as line break; a repeated one counts once, the first. Throws Refused: 413 above
 * 64 KiB.
 */
export async function formFields(request: Request): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(
    new TextDecoder().decode(await readBody(request)),
  )) {
    if (!fields.has(name)) fields.set(name, value.toWellFormed().replaceAll(/\r\n?/g, "\n").trim());
  }
  return fields;
}
