import { z } from "zod";

/** The JSON object that a text is; null for any other text. Members may be anything. */
export function objectIn(text: string): Record<string, unknown> | null {
  // What begins so and can be parsed is an object.
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Whether a text was meant as a JSON object and is none: a quote too few, a comma too many. */
export const isBrokenObject = (text: string): boolean =>
  text.trimStart().startsWith("{") && objectIn(text) === null;

/** The one way in which an answer becomes text, so that service and bundle agree to the byte. */
export const answerBytes = (answer: unknown): string => `${JSON.stringify(answer)}\n`;

/** An object that has a name of its own in the description of the API. */
export const named = <Members extends z.core.$ZodLooseShape>(
  id: string,
  members: Members,
  meta: { examples?: unknown[] } = {},
) => z.object(members).meta({ id, ...meta });
