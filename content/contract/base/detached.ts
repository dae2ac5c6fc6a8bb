const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A copy of a text that was cut, well-formed: a slice keeps the whole text in memory for as long as anyone has it. */
export const detached = (text: string): string => decoder.decode(encoder.encode(text));
