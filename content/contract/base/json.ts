import { z } from "zod";

/** Parses a text as a JSON object; null for any other text. Members are not checked. */
export function objectIn(text: string): Record<string, unknown> | null {
  // A text that begins with "{" and parses is an object.
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Whether a text was meant as a JSON object but does not parse: a missing quote, an extra comma. */
export const isBrokenObject = (text: string): boolean =>
  text.trimStart().startsWith("{") && objectIn(text) === null;

/** Serialises an answer. Service and bundle both use it, so that their bytes are equal. */
export const answerBytes = (answer: unknown): string => `${JSON.stringify(answer)}\n`;

/** An object with a name of its own in the API's description. */
export const named = <Members extends z.core.$ZodLooseShape>(
  id: string,
  members: Members,
  meta: { examples?: unknown[] } = {},
) => z.object(members).meta({ id, ...meta });

/** How many there are. */
export const count = z.int().min(0);

export const textOrNull = z.string().nullable();

export const texts = z.array(z.string());

/** Why an operator does something, for the audit log. */
export const reason = z.string().trim().min(1).max(500);
