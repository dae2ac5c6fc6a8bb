/** The JSON object that a text is; null for any other text. Members may be anything. */
export function objectIn(text: string): Record<string, unknown> | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Whether a text was meant as a JSON object and is none: a quote too few, a comma too many. */
export const isBrokenObject = (text: string): boolean =>
  text.trimStart().startsWith("{") && objectIn(text) === null;
